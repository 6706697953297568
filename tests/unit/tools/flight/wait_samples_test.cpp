#include "tools/sorrel/flight/wait_samples.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

report::WaitTable table_of(const std::string& state, const std::string& call, int rank_count) {
  report::WaitTable table;
  for (int rank = 0; rank < rank_count; ++rank) {
    table.add({.rank = rank,
               .state = state,
               .call = call,
               .peer = "-",
               .tag = "-",
               .comm = "-",
               .place = "main (a.c:1)",
               .explanation = {},
               .awaited = {},
               .collective = {}});
  }
  return table;
}

TEST(WaitSamples, has_the_most_frequent_wait_first) {
  WaitSamples samples;
  samples.add(table_of("runs on worker 0", "-", 1));
  samples.add(table_of("waits", "MPI_Recv", 3));
  samples.add(table_of("runs on worker 1", "-", 1));
  const auto rows = samples.rows();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].call, "MPI_Recv");
  EXPECT_DOUBLE_EQ(rows[0].share, 0.6);
  // The worker's number is no part of the state.
  EXPECT_EQ(rows[1].state, "runs");
  EXPECT_EQ(rows[1].count, 2U);
}

TEST(WaitSamples, keeps_as_many_samples_as_fit_spread_over_the_whole_time) {
  WaitSamples samples;
  const std::size_t count = 3 * WaitSamples::sample_count_max;
  for (std::size_t i = 0; i < count; ++i)
    samples.add(table_of("waits", i < count / 2 ? "MPI_Recv" : "MPI_Send", 1));
  EXPECT_LE(samples.count(), WaitSamples::sample_count_max);
  EXPECT_GE(samples.count(), WaitSamples::sample_count_max / 2);
  EXPECT_GT(samples.distance_ns(), WaitSamples::first_distance_ns);
  EXPECT_EQ(samples.rows().size(), 2U);
}

TEST(WaitSamples, prints_a_limited_number_of_rows) {
  WaitSamples samples;
  EXPECT_EQ(text_of(samples.rows(), 1), "");
  samples.add(table_of("waits", "MPI_Recv", 3));
  samples.add(table_of("ready", "MPI_Test", 1));
  EXPECT_EQ(text_of(samples.rows(), 1),
            "  share  state      in                     at\n"
            "   75 %  waits      MPI_Recv               main (a.c:1)\n"
            "         … and 1 more row\n");
}

}  // namespace
}  // namespace sorrel::tool
