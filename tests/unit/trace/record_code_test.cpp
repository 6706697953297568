#include "trace/record_code.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "base/prng.hpp"

namespace sorrel::trace {
namespace {

std::vector<std::byte> code_of(const std::vector<Record>& records) {
  std::vector<std::byte> bytes;
  RecordEncoder encoder;
  for (const Record& record : records) {
    std::array<std::byte, record_bytes_max> code;
    const auto count = encoder.encode(record, code.data()) - code.data();
    bytes.insert(bytes.end(), code.begin(), code.begin() + count);
  }
  return bytes;
}

void expect_equal(const Record& one, const Record& other) {
  EXPECT_EQ(one.time_and_kind, other.time_and_kind);
  EXPECT_EQ(one.subject, other.subject);
  EXPECT_EQ(one.first, other.first);
  EXPECT_EQ(one.second, other.second);
}

void expect_round_trip(const std::vector<Record>& records) {
  const std::vector<std::byte> bytes = code_of(records);
  std::span<const std::byte> left = bytes;
  RecordDecoder decoder;
  for (const Record& record : records) {
    Record found;
    const std::size_t count = decoder.decode(left, found);
    ASSERT_NE(count, 0U);
    left = left.subspan(count);
    expect_equal(found, record);
  }
  EXPECT_TRUE(left.empty());
}

Record record_at(std::uint64_t cycles,
                 std::uint64_t subject,
                 std::uint64_t first = 0,
                 std::uint64_t second = 0) {
  Record record{.time_and_kind = static_cast<std::uint8_t>(Kind::send),
                .subject = subject,
                .first = first,
                .second = second};
  record.set_time(cycles);
  return record;
}

TEST(RecordCode, TimesOfAnyDistanceAreKept) {
  std::vector<Record> records;
  for (const std::uint64_t cycles :
       {std::uint64_t{0}, std::uint64_t{0xffff}, std::uint64_t{0x1ffff}, std::uint64_t{0x1ffff},
        std::uint64_t{0x100020000}, std::uint64_t{5}, time_mask, std::uint64_t{0}})
    records.push_back(record_at(cycles, 1));
  expect_round_trip(records);
}

TEST(RecordCode, WordsOfAnySizeAreKept) {
  const std::uint64_t wide = 0x123456789abcdef0;
  expect_round_trip({record_at(1, 0, 0xffffffff, wide), record_at(2, wide, wide, 0xffffffff),
                     record_at(3, 0x100000000, 1, 0), record_at(4, ~std::uint64_t{0}, 1, 1)});
}

TEST(RecordCode, WordsThatDisplaceEachOtherAreKept) {
  Prng random(11);
  std::vector<Record> records;
  std::uint64_t cycles = 0;
  for (int i = 0; i < 20'000; ++i) {
    cycles += random.next() >> (random.next() % 56);
    const std::uint64_t subject = (random.next() % 1000) << (random.next() % 2 * 36);
    records.push_back(record_at(cycles & time_mask, subject, random.next() % 300,
                                random.next() >> (random.next() % 64)));
  }
  expect_round_trip(records);
}

TEST(RecordCode, WhatRecursIsShort) {
  std::vector<Record> records;
  for (std::uint64_t i = 0; i < 1000; ++i)
    records.push_back(record_at(400 * i, 0x7f0000000000 + 64 * (i % 8), 0x7f1234567890, i % 4));
  EXPECT_LT(code_of(records).size(), 7 * records.size() + 100);
}

TEST(RecordCode, ARecordThatIsCutIsNone) {
  const std::vector<Record> records = {
      record_at(std::uint64_t{1} << 40, ~std::uint64_t{1}, ~std::uint64_t{2}, ~std::uint64_t{3})};
  const std::vector<std::byte> bytes = code_of(records);
  EXPECT_EQ(bytes.size(), record_bytes_max);
  for (std::size_t count = 0; count < bytes.size(); ++count) {
    Record found;
    EXPECT_EQ(RecordDecoder().decode(std::span(bytes).first(count), found), 0U) << count;
  }
}

}  // namespace
}  // namespace sorrel::trace
