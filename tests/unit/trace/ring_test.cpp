#include "trace/ring.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "core/sync.hpp"

namespace sorrel::trace {
namespace {

using Ring = BasicRing<core::StdSync, 8>;

Record numbered(std::uint64_t number) {
  return {.time_and_kind = number, .subject = ~number, .first = number * 3, .second = number * 5};
}

std::vector<std::uint64_t> latest_of(const Ring& ring, std::size_t count) {
  std::vector<Record> memory(count);
  std::vector<std::uint64_t> numbers;
  for (const Record& record : ring.copy_latest(memory)) {
    EXPECT_EQ(record.subject, ~record.time_and_kind);
    EXPECT_EQ(record.first, record.time_and_kind * 3);
    EXPECT_EQ(record.second, record.time_and_kind * 5);
    numbers.push_back(record.time_and_kind);
  }
  return numbers;
}

TEST(RingTest, AnEmptyRingHasNoRecords) {
  EXPECT_EQ(latest_of(Ring(), 7), std::vector<std::uint64_t>());
}

TEST(RingTest, TheLatestRecordsAreCopiedInOrder) {
  Ring ring;
  for (std::uint64_t i = 1; i <= 5; ++i)
    ring.add(numbered(i));
  EXPECT_EQ(latest_of(ring, 3), (std::vector<std::uint64_t>{3, 4, 5}));
  EXPECT_EQ(latest_of(ring, 7), (std::vector<std::uint64_t>{1, 2, 3, 4, 5}));
}

TEST(RingTest, TheOldestRecordsAreOverwritten) {
  Ring ring;
  for (std::uint64_t i = 1; i <= 1003; ++i)
    ring.add(numbered(i));
  EXPECT_EQ(latest_of(ring, 7),
            (std::vector<std::uint64_t>{997, 998, 999, 1000, 1001, 1002, 1003}));
}

TEST(RingTest, ACopyBesideTheWriterHasCompleteRecordsInOrder) {
  Ring ring;
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (std::uint64_t i = 1; i <= 300'000; ++i)
      ring.add(numbered(i));
    is_over = true;
  });
  std::uint64_t newest = 0;
  while (!is_over) {
    const std::vector<std::uint64_t> numbers = latest_of(ring, 7);
    for (std::size_t i = 1; i < numbers.size(); ++i)
      EXPECT_EQ(numbers[i], numbers[i - 1] + 1);
    if (numbers.empty()) continue;
    EXPECT_GE(numbers.back(), newest);
    newest = numbers.back();
  }
  writer.join();
  EXPECT_EQ(latest_of(ring, 1), std::vector<std::uint64_t>{300'000});
}

TEST(RecordTest, TimeAndKindShareAWord) {
  Ring ring;
  const int subject = 0;
  ring.add(Record::now(Kind::wake, name_of(&subject), name_of("call"), name_of(&ring)));
  std::array<Record, 7> memory;
  const auto copied = ring.copy_latest(memory);
  ASSERT_EQ(copied.size(), 1U);
  EXPECT_EQ(copied[0].kind(), Kind::wake);
  EXPECT_EQ(copied[0].subject, name_of(&subject));
  EXPECT_STREQ(reinterpret_cast<const char*>(copied[0].first), "call");
  EXPECT_EQ(copied[0].second, name_of(&ring));
  EXPECT_LT(copied[0].cycles_until(arch::cycles()), std::uint64_t{1} << 50);
}

TEST(RecordTest, DurationsOutliveTheUpperBitsOfTheCounter) {
  const std::uint64_t before = (std::uint64_t{1} << 56) - 10;
  const Record record{.time_and_kind = before << Record::kind_bits};
  EXPECT_EQ(record.cycles_until(before + 30), 30U);
}

}  // namespace
}  // namespace sorrel::trace
