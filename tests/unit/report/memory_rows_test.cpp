#include "report/memory_rows.hpp"

#include <algorithm>
#include <gtest/gtest.h>

#include "report/activity_table.hpp"

namespace sorrel::report {
namespace {

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;

TEST(MemoryRowsTest, BytesHaveTwoDigitsAndAUnit) {
  EXPECT_EQ(text_of_bytes(0).text(), "0 KiB");
  EXPECT_EQ(text_of_bytes(1500).text(), "1 KiB");
  EXPECT_EQ(text_of_bytes(900 * kib).text(), "900 KiB");
  EXPECT_EQ(text_of_bytes(mib + 300 * kib).text(), "1.3 MiB");
  EXPECT_EQ(text_of_bytes(9 * mib + 1020 * kib).text(), "10 MiB");
  EXPECT_EQ(text_of_bytes(64 * 1024 * mib).text(), "64 GiB");
  EXPECT_EQ(text_of_bytes(std::uint64_t{5000} * 1024 * 1024 * mib).text(), "5000 TiB");
}

TEST(MemoryRowsTest, RanksWithEqualFiguresAreOneRowAndTheLargestComesFirst) {
  std::vector<RankMemory> ranks;
  for (std::int32_t rank = 0; rank < 100; ++rank)
    ranks.push_back({rank, 10 * kib, 12 * kib, 20 * kib});
  ranks[7] = {7, 3 * mib, 5 * mib, 8 * mib};
  EXPECT_EQ(memory_rows(ranks),
            "         rank      in use        held     at most  of heap memory\n"
            "            7     3.0 MiB     5.0 MiB     8.0 MiB\n"
            "0-6,8-99 (99)      10 KiB      12 KiB      20 KiB\n"
            "          all     4.0 MiB     6.2 MiB     9.9 MiB\n");
}

TEST(MemoryRowsTest, RowsAreFewHoweverManyRanksDiffer) {
  std::vector<RankMemory> ranks;
  for (std::int32_t rank = 0; rank < 1000; ++rank)
    ranks.push_back({rank, 0, rank * mib, rank * mib});
  const std::string text = memory_rows(ranks);
  EXPECT_NE(text.find("   999       0 KiB     999 MiB"), std::string::npos) << text;
  EXPECT_NE(text.find("992 more ranks hold less\n"), std::string::npos) << text;
  EXPECT_LT(std::ranges::count(text, '\n'), 15) << text;
}

TEST(MemoryRowsTest, WithoutHeapsThereIsNoRow) {
  EXPECT_EQ(memory_rows({}), "");
}

TEST(MemoryRowsTest, FiguresTravelBetweenProcesses) {
  WaitTable table;
  table.add(RankMemory{3, 1, 2, 3});
  WaitTable again;
  again.add(table.text(1000));
  ASSERT_EQ(again.memory().size(), 1);
  EXPECT_EQ(again.memory().front().rank, 3);
  EXPECT_EQ(again.memory().front().in_use, 1);
  EXPECT_EQ(again.memory().front().held, 2);
  EXPECT_EQ(again.memory().front().most, 3);
  EXPECT_NE(activity_table(again, "4 ranks", 4).find("of heap memory\n     3 "), std::string::npos);
  EXPECT_EQ(table.text(60), "") << "where there is no room, heaps are left out";
}

}  // namespace
}  // namespace sorrel::report
