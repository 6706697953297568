#include "tools/sorrel/live/live_state.hpp"

#include <gtest/gtest.h>

namespace sorrel::tool {
namespace {

report::RankWait row_of(std::int32_t rank, const std::string& state, std::int32_t line) {
  return {.rank = rank,
          .state = state,
          .call = "MPI_Recv",
          .peer = "-",
          .tag = "-",
          .comm = "-",
          .place = "main (a.c:" + std::to_string(line) + ")",
          .explanation = {},
          .awaited = {},
          .collective = {}};
}

RunningJob job_of_one_process() {
  RunningJob job{.pid = 10, .command = "./a", .processes = {JobProcess{}}};
  job.processes.front().facts = {.pid = 10, .age_seconds = 75, .resident_bytes = 1 << 20};
  return job;
}

TEST(LiveState, counts_ranks_and_groups_those_that_do_the_same) {
  JobView now;
  now.view.rank_count = 3;
  now.view.ranks.add(row_of(0, "runs on worker 0", 1));
  now.view.ranks.add(row_of(1, "waits", 2));
  now.view.ranks.add(row_of(2, "waits", 2));
  now.view.unexpected = {{1, 5}, {2, 1}};
  const Json state = live_state(job_of_one_process(), now, now);
  EXPECT_EQ(state["ranks"], 3);
  EXPECT_EQ(state["counts"]["running"], 1);
  EXPECT_EQ(state["counts"]["waiting"], 2);
  EXPECT_EQ(state["unexpected_messages"], 6);
  EXPECT_EQ(state["resident_bytes"], 1 << 20);
  ASSERT_EQ(state["rows"].size(), 2U);
  EXPECT_EQ(state["rows"][1][0], "1-2 (2)");
  EXPECT_EQ(state["rows"][1][3], "main (a.c:2)");
  EXPECT_EQ(state["left_out"], 0);
}

TEST(LiveState, has_a_limited_number_of_rows) {
  JobView now;
  constexpr std::int32_t rank_count = 2 * static_cast<std::int32_t>(live_row_count_max);
  now.view.rank_count = rank_count;
  for (std::int32_t rank = 0; rank < rank_count; ++rank)
    now.view.ranks.add(row_of(rank, "waits", rank));
  const Json state = live_state(job_of_one_process(), now, now);
  EXPECT_EQ(state["rows"].size(), live_row_count_max);
  EXPECT_EQ(state["left_out"], live_row_count_max);
}

}  // namespace
}  // namespace sorrel::tool
