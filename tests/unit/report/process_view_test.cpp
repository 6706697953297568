#include "report/process_view.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sorrel::report {
namespace {

RankWait wait_of(std::int32_t rank) {
  return {.rank = rank,
          .state = "waits",
          .call = "MPI_Recv",
          .peer = "from 3",
          .tag = "7",
          .comm = "MPI_COMM_WORLD",
          .place = "main (a.c:1)",
          .explanation = {},
          .awaited = 3,
          .collective = {}};
}

ProcessView view_of(std::int32_t first, std::uint32_t worker) {
  ProcessView view;
  view.rank_count = 4;
  view.workers = {{.number = worker,
                   .thread = 100 + static_cast<pid_t>(worker),
                   .is_asleep = true,
                   .sent_messages = 7,
                   .sent_bytes = std::uint64_t{1} << 40}};
  for (const std::int32_t rank : {first, first + 1}) {
    view.ranks.add(wait_of(rank));
    append(view.stacks[{"MPI_Recv", "main (a.c:1)"}], rank);
  }
  view.unexpected[first] = 12;
  return view;
}

TEST(ProcessView, adds_up_the_texts_of_processes) {
  ProcessView sum;
  sum.add(view_of(2, 1).text(10000));
  sum.add(view_of(0, 0).text(10000));
  EXPECT_EQ(sum.rank_count, 4);
  ASSERT_EQ(sum.workers.size(), 2U);
  EXPECT_EQ(sum.workers[1], (ViewedWorker{.number = 1,
                                          .thread = 101,
                                          .is_asleep = true,
                                          .sent_messages = 7,
                                          .sent_bytes = std::uint64_t{1} << 40}));
  ASSERT_EQ(sum.ranks.waits().size(), 4U);
  EXPECT_EQ(sum.ranks.waits()[3].peer, "from 3");
  EXPECT_EQ(sum.unexpected, (std::map<std::int32_t, std::uint32_t>{{0, 12}, {2, 12}}));
  ASSERT_EQ(sum.stacks.size(), 1U);
  EXPECT_EQ(as_field(sum.stacks.begin()->second), "0-1,2-3,");
  EXPECT_FALSE(sum.is_cut);
}

TEST(ProcessView, keeps_the_stage_of_a_process_without_ranks) {
  ProcessView view;
  view.stage = ProcessView::Stage::after_ranks;
  ProcessView read;
  read.add(view.text(1000));
  EXPECT_EQ(read.stage, ProcessView::Stage::after_ranks);
  EXPECT_TRUE(read.ranks.waits().empty());
}

TEST(ProcessView, says_that_stacks_do_not_fit) {
  ProcessView view = view_of(0, 0);
  for (int i = 0; i < 100; ++i)
    append(view.stacks[{"f", std::to_string(i)}], i);
  const std::string text = view.text(1000);
  EXPECT_LE(text.size(), 1000U);
  ProcessView read;
  read.add(text);
  EXPECT_TRUE(read.is_cut);
  EXPECT_LT(read.stacks.size(), 100U);
  EXPECT_EQ(read.ranks.waits().size(), 2U);
}

TEST(ProcessView, leaves_out_damaged_lines) {
  ProcessView read;
  read.add("job\tr\tx\nworker\t1\nworker\tx\t2\t1\nunexpected\t1\nstack\n\nnothing\t1\ntable\n");
  EXPECT_EQ(read.rank_count, 0);
  EXPECT_TRUE(read.workers.empty());
  EXPECT_TRUE(read.unexpected.empty());
}

}  // namespace
}  // namespace sorrel::report
