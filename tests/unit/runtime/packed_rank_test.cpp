#include "runtime/moves/packed_rank.hpp"

#include <gtest/gtest.h>

namespace sorrel::runtime {
namespace {

PackedRank example(std::int32_t number) {
  return {.number = number,
          .load = 2.5 * number,
          .record = std::string(static_cast<std::size_t>(number), 'r'),
          .memory = {{4096, 8192}, {12288, 12289}},
          .checked = {{1, 2}},
          .check = 77};
}

TEST(PackedRank, IsReadAsItWasWritten) {
  ByteWriter writer;
  add(example(0), writer);
  add(example(300), writer);
  ByteCursor from(std::as_bytes(std::span(writer.bytes())));
  for (const std::int32_t number : {0, 300}) {
    const auto packed = take_packed_rank(from);
    ASSERT_TRUE(packed.has_value());
    EXPECT_EQ(packed->number, number);
    EXPECT_EQ(packed->load, 2.5 * number);
    EXPECT_EQ(packed->record, example(number).record);
    EXPECT_EQ(packed->memory, example(number).memory);
    EXPECT_EQ(packed->checked, example(number).checked);
    EXPECT_EQ(packed->check, 77U);
  }
  EXPECT_TRUE(from.at_end());
}

TEST(PackedRank, IsNotReadFromBytesThatAreCut) {
  ByteWriter writer;
  add(example(20), writer);
  const std::string& bytes = writer.bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ByteCursor from(std::as_bytes(std::span(bytes).first(length)));
    EXPECT_FALSE(take_packed_rank(from).has_value()) << length;
  }
}

TEST(PackedRank, HasPiecesOfMemoryWithoutACommonByte) {
  PackedRank packed = example(1);
  packed.check_invariants();
  packed.memory.push_back({8000, 9000});
  EXPECT_DEATH(packed.check_invariants(), "rank 1: a piece from 0x1f40 to 0x2328, behind 0x2000");
  packed.memory.back() = {9000, 8900};
  EXPECT_DEATH(packed.check_invariants(), "a piece from 0x2328 to 0x22c4");
  packed.memory.back() = {9000, 9000};
  packed.check_invariants();
}

TEST(PackedRank, HasACheckThatEachByteChanges) {
  std::vector<char> memory(10000, 'a');
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::vector<os::MemoryRange> ranges = {{begin, begin + 4000},
                                               {begin + 4000, begin + 10000}};
  const std::uint64_t before = check_of(ranges);
  EXPECT_EQ(check_of(ranges), before);
  for (const std::size_t i : {0U, 3999U, 4000U, 9999U}) {
    memory[i] = 'b';
    EXPECT_NE(check_of(ranges), before) << i;
    memory[i] = 'a';
  }
}

}  // namespace
}  // namespace sorrel::runtime
