#include "checkpoint/generations.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/prng.hpp"
#include "unit/base/temporary_folder.hpp"
#include "unit/checkpoint/written_generation.hpp"

namespace sorrel::checkpoint {
namespace {

namespace fs = std::filesystem;

using test::process_count;
using test::write_files;

class GenerationsTest : public testing::Test {
 protected:
  [[nodiscard]] Generations generations() const { return Generations(folder_); }

  void make(std::uint64_t number) const {
    ASSERT_EQ(generations().begin(number), "");
    ASSERT_EQ(generations().commit(number, write_files(generations(), number)), "");
  }

  /// The number that the files of a generation hold; 0: they differ or cannot be read.
  [[nodiscard]] std::uint64_t contents_of(std::uint64_t number) const {
    for (std::uint32_t process = 0; process < process_count; ++process) {
      SegmentReader reader;
      std::uint64_t held = 0;
      if (!reader.open(generations().path_of(number, process)).empty() ||
          !reader.read(reader.segments().front(), &held).empty() || held != number)
        return 0;
    }
    return number;
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_))
      found.push_back(entry.path().filename().string());
    std::ranges::sort(found);
    return found;
  }

  void cut(const std::string& path, std::uintmax_t bytes) const {
    fs::resize_file(path, fs::file_size(path) - bytes);
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
};

TEST_F(GenerationsTest, AnEmptyFolderHasNone) {
  EXPECT_EQ(generations().find_newest().generation, 0U);
  EXPECT_EQ(generations().next(), 1U);
  EXPECT_NE(Generations(folder_ + "/absent").begin(1), "");
}

TEST_F(GenerationsTest, TheNewestAndTheOneBeforeAreKept) {
  for (const std::uint64_t number : {1, 2, 3, 11})
    make(number);
  EXPECT_EQ(names(), (std::vector<std::string>{"ckpt.11", "ckpt.3"}));
  const auto found = generations().find_newest();
  EXPECT_EQ(found.generation, 11U);
  EXPECT_EQ(generations().manifest(11)->files.size(), process_count);
  EXPECT_TRUE(found.passed_over.empty());
  EXPECT_EQ(contents_of(11), 11U);
  EXPECT_EQ(generations().next(), 12U);
}

TEST_F(GenerationsTest, WithATornFileTheOneBeforeIsUsed) {
  make(1);
  make(2);
  cut(generations().path_of(2, 1), 1);
  const auto found = generations().find_newest();
  EXPECT_EQ(found.generation, 1U);
  ASSERT_EQ(found.passed_over.size(), 1U);
  EXPECT_EQ(found.passed_over[0].generation, 2U);
  EXPECT_NE(found.passed_over[0].reason.find("ckpt.2/process.0001"), std::string::npos);
  // The whole one stays when the next is made.
  ASSERT_EQ(generations().set_aside(2), "");
  make(3);
  EXPECT_EQ(names(), (std::vector<std::string>{"ckpt.1", "ckpt.2.damaged", "ckpt.3"}));
}

TEST_F(GenerationsTest, WithoutAnyWholeOneNoneIsFound) {
  make(1);
  fs::remove(folder_ + "/ckpt.1/MANIFEST");
  EXPECT_EQ(generations().find_newest().generation, 0U);
  EXPECT_EQ(generations().find_newest().passed_over.size(), 1U);
}

TEST_F(GenerationsTest, FilesOfDifferentGenerationsAreNotMixed) {
  make(1);
  make(2);
  fs::copy_file(generations().path_of(1, 0), generations().path_of(2, 0),
                fs::copy_options::overwrite_existing);
  EXPECT_EQ(generations().find_newest().generation, 1U);
}

TEST_F(GenerationsTest, OneThatIsNotCommittedDoesNotCount) {
  make(1);
  ASSERT_EQ(generations().begin(2), "");
  write_files(generations(), 2);
  EXPECT_EQ(generations().find_newest().generation, 1U);
  EXPECT_EQ(generations().next(), 2U);
  // The interrupted one gives way.
  make(2);
  EXPECT_EQ(generations().find_newest().generation, 2U);
}

/// The process that makes checkpoints is killed at random moments. What it has reported as
/// committed, or a later one, is there afterwards, whole.
TEST_F(GenerationsTest, AKillAtAnyMomentLosesNothingCommitted) {
  constexpr int kill_count = 40;
  Prng random(1);
  std::uint64_t committed = 0;
  for (int i = 0; i < kill_count; ++i) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      for (std::uint64_t number = generations().next();; ++number) {
        if (!generations().begin(number).empty() ||
            !generations().commit(number, write_files(generations(), number)).empty() ||
            write(ends[1], &number, sizeof number) != sizeof number)
          _exit(1);
      }
    }
    close(ends[1]);
    usleep(static_cast<useconds_t>(random.below(30'000)));
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    for (std::uint64_t number = 0; read(ends[0], &number, sizeof number) == sizeof number;)
      committed = number;
    close(ends[0]);
    const auto found = generations().find_newest();
    ASSERT_GE(found.generation, committed) << i;
    ASSERT_TRUE(found.passed_over.empty()) << found.passed_over.front().reason;
    if (committed != 0) {
      ASSERT_EQ(contents_of(found.generation), found.generation);
    }
  }
}

TEST(ManifestTest, OnlyAnUnchangedTextIsDecoded) {
  const std::vector<FileSeal> files{{.bytes = 100, .check = 0xffffffff}, {.bytes = 7, .check = 0}};
  const std::string text =
      encode_manifest({.writer = "Sorrel 1 on a, b", .generation = 42, .files = files, .code = ""});
  const auto decoded = decode_manifest(text);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->writer, "Sorrel 1 on a, b");
  EXPECT_EQ(decoded->generation, 42U);
  EXPECT_EQ(decoded->files, files);
  EXPECT_EQ(decoded->code, "");
  EXPECT_FALSE(decode_manifest(""));
  EXPECT_FALSE(decode_manifest(text + " "));
  EXPECT_EQ(decode_manifest(text + "code abc\n")->code, "abc");
  for (std::size_t i = 0; i < text.size(); ++i) {
    EXPECT_FALSE(decode_manifest(text.substr(0, i))) << i;
    for (const char letter : {'0', '9', ' ', '\n', '-', '\0'}) {
      std::string changed = text;
      changed[i] = letter;
      EXPECT_EQ(decode_manifest(changed).has_value(), changed == text) << i << letter;
    }
  }
}

// The adversary knows the format: all checks fit, also those of the manifest.
TEST_F(GenerationsTest, ContentsWithoutTheCodeOfTheKeyAreNotOfTheUser) {
  UserKey own;
  UserKey other;
  ASSERT_EQ(own.open(folder_ + "/own/key"), "");
  ASSERT_EQ(other.open(folder_ + "/other/key"), "");
  const Generations writer(folder_, own);
  const UserKey* const forgers[] = {nullptr, &other, &own};
  for (std::uint64_t number = 1; number <= std::size(forgers); ++number) {
    ASSERT_EQ(writer.begin(number), "");
    ASSERT_EQ(writer.commit(number, write_files(writer, number, forgers[number - 1])), "");
    EXPECT_EQ(writer.error_of(number), "");
    EXPECT_EQ(writer.is_of_user(number), forgers[number - 1] == &own) << number;
  }
}

TEST_F(GenerationsTest, OnlyJobsOfTheKeyAreOfTheUser) {
  UserKey own;
  UserKey other;
  ASSERT_EQ(own.open(folder_ + "/own/key"), "");
  ASSERT_EQ(other.open(folder_ + "/other/key"), "");
  std::ofstream(folder_ + "/JOB") << "program";
  const Generations writer(folder_, own);
  ASSERT_EQ(writer.begin(1), "");
  ASSERT_EQ(writer.commit(1, write_files(writer, 1)), "");
  EXPECT_TRUE(writer.is_of_user(1));
  EXPECT_FALSE(Generations(folder_, other).is_of_user(1));
  EXPECT_FALSE(generations().is_of_user(1)) << "no key";
  // Without a key nothing is of the user, even if the manifest has no code.
  make(2);
  EXPECT_FALSE(generations().is_of_user(2));
  EXPECT_FALSE(writer.is_of_user(2));
  // The job is as safe as its memory.
  std::ofstream(folder_ + "/JOB", std::ios::app) << " --another";
  EXPECT_FALSE(writer.is_of_user(1));
  std::ofstream(folder_ + "/JOB") << "program";
  EXPECT_TRUE(writer.is_of_user(1));
  // A manifest with another length of a file, and a check that fits.
  Manifest manifest = *writer.manifest(1);
  ++manifest.files[0].bytes;
  std::ofstream(folder_ + "/ckpt.1/MANIFEST") << encode_manifest(manifest);
  EXPECT_EQ(writer.manifest(1)->files, manifest.files);
  EXPECT_FALSE(writer.is_of_user(1));
}

}  // namespace
}  // namespace sorrel::checkpoint
