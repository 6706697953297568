#include "mpi/base/tuning.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace sorrel::mpi {
namespace {

std::size_t limit_in(const TuningTable& table, Limit limit, const CollectiveShape& shape) {
  return table.limits_of(shape)[static_cast<std::size_t>(limit)];
}

TEST(TuningTableTest, EveryLimitHasABuiltInRowForEveryShape) {
  constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
  const CollectiveLimits limits =
      TuningTable().limits_of({.ranks_per_worker = most, .processes = most, .nodes = most});
  EXPECT_EQ(limits.size(), limit_count);
}

TEST(TuningTableTest, TheFirstRowThatFitsCounts) {
  TuningTable table;
  ASSERT_EQ(table.add("# a comment\n"
                      "\n"
                      "bcast.staged 100 4 any any\n"
                      "  bcast.staged\t200 8 2 1   # up to 8\r\n"
                      "bcast.staged 300 any any any"),
            std::nullopt);
  EXPECT_EQ(limit_in(table, Limit::bcast_staged, {4, 9, 9}), 100U);
  EXPECT_EQ(limit_in(table, Limit::bcast_staged, {5, 2, 1}), 200U);
  EXPECT_EQ(limit_in(table, Limit::bcast_staged, {5, 3, 1}), 300U);
  EXPECT_EQ(limit_in(table, Limit::bcast_staged, {5, 2, 2}), 300U);
}

TEST(TuningTableTest, RowsOfAUserComeBeforeTheBuiltInOnes) {
  TuningTable table;
  const CollectiveShape larger{.ranks_per_worker = 3};
  const std::size_t before = limit_in(table, Limit::reduce_segment, larger);
  ASSERT_EQ(table.add("reduce.segment 17 2 any any\n"), std::nullopt);
  EXPECT_EQ(limit_in(table, Limit::reduce_segment, {}), 17U);
  EXPECT_EQ(limit_in(table, Limit::reduce_segment, larger), before);
}

TEST(TuningTableTest, NamesOfLimitsAreReadBack) {
  for (std::size_t i = 0; i < limit_count; ++i) {
    TuningTable table;
    const auto limit = static_cast<Limit>(i);
    ASSERT_EQ(table.add(std::string(name_of(limit)) + " 7 any any any"), std::nullopt);
    EXPECT_EQ(limit_in(table, limit, {}), 7U);
  }
}

TEST(TuningTableTest, AWrongLineIsNamedAndNothingIsAdded) {
  const struct {
    const char* text;
    const char* error;
  } cases[] = {
      {"bcast.staged 1 any any any\nbcast 2 any any any",
       "line 2: 'bcast' is not one of bcast.staged, allgather.staged, reduce.segment, "
       "allreduce.direct, reduce.direct, allreduce.repeated, reduce.on_arrival"},
      {"bcast.staged", "line 1: the bytes must be a whole number from 0 to 16777216"},
      {"bcast.staged 4k any any any",
       "line 1: the bytes must be a whole number from 0 to 16777216"},
      {"bcast.staged 16777217 any any any",
       "line 1: the bytes must be a whole number from 0 to 16777216"},
      {"bcast.staged 4 any any",
       "line 1: ranks of a worker, processes and nodes must each be a whole number from 1 on, or "
       "any"},
      {"bcast.staged 4 0 any any",
       "line 1: ranks of a worker, processes and nodes must each be a whole number from 1 on, or "
       "any"},
      {"bcast.staged 4 any any any more", "line 1: 'more' after the row"},
  };

  const std::size_t before = limit_in(TuningTable(), Limit::bcast_staged, {});
  for (const auto& each : cases) {
    TuningTable table;
    EXPECT_EQ(table.add(each.text), each.error);
    EXPECT_EQ(limit_in(table, Limit::bcast_staged, {}), before);
  }
}

}  // namespace
}  // namespace sorrel::mpi
