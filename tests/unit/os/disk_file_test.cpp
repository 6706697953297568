#include "os/disk_file.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "unit/base/temporary_folder.hpp"

namespace sorrel::os {
namespace {

using LockKind = DiskFile::LockKind;

class DiskFileTest : public testing::Test {
 protected:
  ~DiskFileTest() override {
    (void)delete_file(path_.c_str());
    EXPECT_TRUE(std::filesystem::is_empty(folder_));
  }

  void open(DiskFile& file, DiskFile::OpenMode mode) {
    ASSERT_EQ(file.open(path_.c_str(), mode), 0);
  }

  const TemporaryFolder temporary_;
  const std::string folder_ = temporary_.path();
  const std::string path_ = folder_ + "/file";
};

std::string text_of(const DiskFile& file) {
  std::string text(100, '?');
  const Moved moved = file.read(text.data(), text.size(), 0);
  EXPECT_EQ(moved.error, 0);
  text.resize(moved.bytes);
  return text;
}

const std::byte* bytes_of(const char* text) {
  return reinterpret_cast<const std::byte*>(text);
}

TEST_F(DiskFileTest, ReadsUpToTheEnd) {
  DiskFile file;
  open(file, {.writes = true, .creates = true});
  EXPECT_EQ(file.write("abcdef", 6, 2).bytes, 6U);
  EXPECT_EQ(text_of(file), std::string("\0\0abcdef", 8));
  std::array<char, 8> end{};
  EXPECT_EQ(file.read(end.data(), end.size(), 6).bytes, 2U);
  EXPECT_EQ(file.read(end.data(), end.size(), 8).bytes, 0U);
  std::int64_t bytes = 0;
  EXPECT_EQ(file.get_size(&bytes), 0);
  EXPECT_EQ(bytes, 8);
}

TEST_F(DiskFileTest, MappedPiecesLeaveTheBytesBetweenThem) {
  DiskFile file;
  // For writing alone, but mapped for reading, too.
  open(file, {.reads = false, .writes = true, .creates = true});
  const std::string before(20, '.');
  ASSERT_EQ(file.write(before.data(), before.size(), 0).bytes, before.size());
  const std::vector<FilePiece> pieces{
      {1, 2, bytes_of("ab")}, {5, 1, bytes_of("c")}, {18, 4, bytes_of("defg")}};
  if (!file.write_mapped(pieces)) GTEST_SKIP() << "the file system of /tmp cannot be mapped";
  EXPECT_EQ(text_of(file), ".ab..c............defg");
}

TEST_F(DiskFileTest, MappedPiecesOfAFullDeviceAreRefused) {
  DiskFile full;
  ASSERT_EQ(full.open("/dev/full", {.writes = true}), 0);
  const std::vector<FilePiece> pieces{{0, 1, bytes_of("a")}, {2, 1, bytes_of("b")}};
  EXPECT_FALSE(full.write_mapped(pieces));
  EXPECT_EQ(full.write("a", 1, 0).error, ENOSPC);
}

TEST_F(DiskFileTest, OpenTellsWhatIsWrong) {
  DiskFile file;
  EXPECT_EQ(file.open(path_.c_str(), {}), ENOENT);
  EXPECT_EQ(file.open(folder_.c_str(), {}), EISDIR);
  EXPECT_EQ(file.open("/dev/null/file", {}), ENOTDIR);
  open(file, {.writes = true, .creates = true, .is_exclusive = true});
  DiskFile second;
  EXPECT_EQ(second.open(path_.c_str(), {.writes = true, .creates = true, .is_exclusive = true}),
            EEXIST);
}

TEST_F(DiskFileTest, LocksExcludeOtherHolders) {
  DiskFile first;
  DiskFile second;
  open(first, {.writes = true, .creates = true});
  open(second, {.writes = true});
  EXPECT_EQ(first.try_lock({10, 20}, LockKind::exclusive), 0);
  EXPECT_EQ(second.try_lock({19, 30}, LockKind::shared), EAGAIN);
  EXPECT_EQ(second.try_lock({20, 30}, LockKind::exclusive), 0);
  EXPECT_EQ(first.unlock({10, 20}), 0);
  EXPECT_EQ(second.try_lock({10, 20}, LockKind::shared), 0);
  EXPECT_EQ(first.try_lock({10, 20}, LockKind::shared), 0);
  EXPECT_EQ(first.try_lock({10, 20}, LockKind::exclusive), EAGAIN);
  // Closing drops the locks.
  EXPECT_EQ(second.close(), 0);
  EXPECT_EQ(first.try_lock({10, 30}, LockKind::exclusive), 0);
}

TEST_F(DiskFileTest, SizesAreSetAndReserved) {
  DiskFile file;
  open(file, {.writes = true, .creates = true});
  std::int64_t bytes = 0;
  EXPECT_EQ(file.set_size(100), 0);
  EXPECT_EQ(file.allocate(50), 0);
  EXPECT_EQ(file.get_size(&bytes), 0);
  EXPECT_EQ(bytes, 100);
  EXPECT_EQ(file.allocate(200), 0);
  EXPECT_EQ(file.get_size(&bytes), 0);
  EXPECT_EQ(bytes, 200);
  EXPECT_EQ(file.allocate(0), 0);
  EXPECT_EQ(file.sync(), 0);
}

}  // namespace
}  // namespace sorrel::os
