#include "tools/sorrel/view/job_page.hpp"

#include <gtest/gtest.h>
#include <string>

namespace sorrel::tool {
namespace {

using report::RankWait;

RankWait row_of(std::int32_t rank, const std::string& state) {
  return {.rank = rank,
          .state = state,
          .call = "MPI_Test",
          .peer = "-",
          .tag = "-",
          .comm = "-",
          .place = "main (a.c:1)",
          .explanation = {},
          .awaited = {},
          .collective = {}};
}

RunningJob small_job() {
  RunningJob job{.pid = 10, .command = "./a", .processes = {JobProcess{}}};
  job.processes.front().facts = {.pid = 10, .age_seconds = 75, .resident_bytes = 1 << 20};
  job.processes.front().spec.rank_count = 3;
  job.processes.front().spec.worker_count = 2;
  job.processes.front().spec.cpus = {1, 2};
  return job;
}

/// Two workers, of which the first has three ranks, and sends ten messages of 1 KiB while it has a
/// core once.
JobView view_at(std::int64_t time_ns, std::int64_t run_ns, std::int64_t slice_count) {
  JobView view;
  view.time_ns = time_ns;
  view.view.rank_count = 3;
  const auto slices = static_cast<std::uint64_t>(slice_count);
  view.view.workers = {
      {.number = 0, .thread = 10, .sent_messages = 10 * slices, .sent_bytes = 10 * slices << 10},
      {.number = 1, .thread = 11, .is_asleep = true}};
  view.threads = {
      {.process = 10, .facts = {.cpu = 1, .run_ns = run_ns, .slice_count = slice_count}},
      {.process = 10, .facts = {.cpu = 2, .run_ns = 0, .slice_count = 0}}};
  view.view.ranks.add(row_of(0, "runs on worker 0"));
  view.view.ranks.add(row_of(1, "ready on worker 0"));
  view.view.ranks.add(row_of(2, "ready on worker 0"));
  return view;
}

TEST(JobPage, counts_ranks_and_the_time_of_workers_between_two_looks) {
  const JobView before = view_at(1'000'000'000, 5'000'000'000, 100);
  const JobView now = view_at(3'000'000'000, 6'500'000'000, 140);
  const auto rates = rates_of(before, now);
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_DOUBLE_EQ(rates[0].load.value(), 75);
  EXPECT_DOUBLE_EQ(rates[0].wakes_per_second.value(), 20);
  EXPECT_EQ(rates[0].running_count, 1);
  EXPECT_EQ(rates[0].ready_count, 2);
  EXPECT_DOUBLE_EQ(rates[1].load.value(), 0);
  EXPECT_EQ(rates[1].running_count, 0);
}

TEST(JobPage, has_no_rates_from_one_look_or_of_another_thread) {
  const JobView now = view_at(3'000'000'000, 6'500'000'000, 140);
  EXPECT_FALSE(rates_of(now, now)[0].load);
  JobView before = view_at(1'000'000'000, 5'000'000'000, 100);
  before.view.workers[0].thread = 77;
  EXPECT_FALSE(rates_of(before, now)[0].load);
  EXPECT_TRUE(rates_of(before, now)[1].load);
}

TEST(JobPage, shows_the_job_its_workers_and_its_ranks) {
  JobView now = view_at(3'000'000'000, 6'500'000'000, 140);
  now.notes = {"process 11 is stopped"};
  now.view.unexpected = {{1, 12}, {2, 12}};
  const auto lines = page_of(small_job(), view_at(1'000'000'000, 5'000'000'000, 100), now, {});
  ASSERT_EQ(lines.size(), 11U);
  EXPECT_EQ(lines[0],
            "job 10: 1 process, 2 workers (cpus 1-2), runs for 01:15, 00:00 of cpu time, 1.0 MiB "
            "resident; ./a");
  EXPECT_EQ(lines[1], "note: process 11 is stopped");
  EXPECT_EQ(lines[3],
            "     0       10    1   75 %         20        200    200 KiB      2  runs a rank");
  EXPECT_EQ(lines[4],
            "     1       11    2    0 %          0          0      0 KiB      0  asleep");
  EXPECT_EQ(lines[5], "3 ranks: 1 running, 2 ready to run");
  EXPECT_EQ(lines[10], "      12  at ranks 1-2 (2)");
}

TEST(JobPage, names_processors_that_processes_share_once) {
  RunningJob job = small_job();
  job.processes.push_back(job.processes.front());
  job.processes.back().spec.cpus = {2, 3};
  const JobView now = view_at(3'000'000'000, 6'500'000'000, 140);
  EXPECT_NE(page_of(job, now, now, {}).front().find("2 processes, 4 workers (cpus 1-3)"),
            std::string::npos);
}

TEST(JobPage, says_that_there_are_no_ranks) {
  JobView now;
  now.view.stage = report::ProcessView::Stage::after_ranks;
  EXPECT_EQ(page_of(small_job(), now, now, {}).back(), "all its ranks have ended");
}

TEST(JobPage, has_the_same_in_json) {
  JobView now = view_at(3'000'000'000, 6'500'000'000, 140);
  now.view.unexpected = {{1, 12}};
  now.view.ranks.add({.rank = 2, .in_use = 10, .held = 20, .most = 30});
  const Json json = json_of(small_job(), now, now);
  EXPECT_EQ(json["job"], 10);
  EXPECT_EQ(json["rank_states"][1]["state"], "ready");
  EXPECT_EQ(json["rank_states"][1]["worker"], 0);
  EXPECT_EQ(json["rank_states"][1]["unexpected_messages"], 12);
  EXPECT_EQ(json["rank_states"][2]["heap"]["held"], 20);
  EXPECT_TRUE(json["worker_states"][0]["load_percent"].is_null());
}

TEST(JobPage, draws_the_history_of_a_load) {
  EXPECT_EQ(load_history({0.0, 50.0, std::nullopt, 100.0, 130.0}, 6, true), "  ▄ ██");
  EXPECT_EQ(load_history({0.0, 50.0, std::nullopt, 100.0}, 4, false), "05 9");
  EXPECT_EQ(load_history({0.0, 50.0, 100.0}, 2, true), "▄█");
  EXPECT_EQ(load_history({}, 3, true), "   ");
}

TEST(JobPage, finds_the_lines_of_workers) {
  const JobView now = view_at(3'000'000'000, 6'500'000'000, 140);
  EXPECT_EQ(worker_heading(page_of(small_job(), now, now, {})), 1U);
  EXPECT_FALSE(worker_heading({"all its ranks have ended"}));
}

TEST(JobPage, writes_durations) {
  EXPECT_EQ(text_of_duration(7.9), "00:07");
  EXPECT_EQ(text_of_duration(3600 * 3 + 62), "3:01:02");
  EXPECT_EQ(text_of_duration(86400 * 2 + 3), "2-00:00:03");
}

}  // namespace
}  // namespace sorrel::tool
