#include "checkpoint/memory_generations.hpp"

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include "unit/checkpoint/written_generation.hpp"

namespace sorrel::checkpoint {
namespace {

using test::process_count;
using test::write_files;

class MemoryGenerationsTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(MemoryGenerations::make_files(process_count, files_), ""); }

  void TearDown() override {
    for (const int descriptor : files_)
      ::close(descriptor);
  }

  [[nodiscard]] MemoryGenerations generations() const { return MemoryGenerations(files_); }

  void make(std::uint64_t number) const {
    ASSERT_EQ(generations().next(), number);
    ASSERT_EQ(generations().begin(number), "");
    ASSERT_EQ(generations().commit(number, write_files(generations(), number)), "");
  }

  [[nodiscard]] std::int64_t used_blocks() const {
    std::int64_t blocks = 0;
    for (const int descriptor : files_) {
      struct stat about{};
      EXPECT_EQ(::fstat(descriptor, &about), 0);
      blocks += about.st_blocks;
    }
    return blocks;
  }

  std::vector<int> files_;
};

TEST_F(MemoryGenerationsTest, TheNewestAndTheOneBeforeAreKept) {
  EXPECT_EQ(generations().find_newest().generation, 0U);
  for (const std::uint64_t number : {1, 2, 3, 4, 5})
    make(number);
  EXPECT_EQ(generations().find_newest().generation, 5U);
  EXPECT_EQ(generations().manifest(5)->files.size(), process_count);
  ASSERT_EQ(generations().set_aside(5), "");
  EXPECT_EQ(generations().find_newest().generation, 4U);
}

TEST_F(MemoryGenerationsTest, OneThatIsNotCommittedDoesNotCountAndGivesItsMemoryBack) {
  make(1);
  const std::int64_t blocks = used_blocks();
  ASSERT_EQ(generations().begin(2), "");
  write_files(generations(), 2);
  EXPECT_GT(used_blocks(), blocks);
  EXPECT_EQ(generations().find_newest().generation, 1U);
  EXPECT_EQ(generations().next(), 2U);
  generations().discard(2);
  EXPECT_EQ(used_blocks(), blocks);
  make(2);
  EXPECT_EQ(generations().find_newest().generation, 2U);
}

TEST_F(MemoryGenerationsTest, ADamagedOneIsPassedOver) {
  make(1);
  make(2);
  std::filesystem::resize_file(generations().path_of(2, 1), 50000);
  const auto found = generations().find_newest();
  EXPECT_EQ(found.generation, 1U);
  ASSERT_EQ(found.passed_over.size(), 1U);
  EXPECT_EQ(found.passed_over[0].generation, 2U);
}

TEST_F(MemoryGenerationsTest, NoRoomIsAnErrorWithTheNumbers) {
  EXPECT_EQ(generations().room_error(1), "");
  EXPECT_NE(generations().room_error(std::uint64_t{1} << 60).find("MiB are free"),
            std::string::npos);
}

}  // namespace
}  // namespace sorrel::checkpoint
