#include "tools/sorrel/report/analysis.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "job_file.hpp"
#include "tools/sorrel/report/advice.hpp"
#include "tools/sorrel/report/replay.hpp"
#include "tools/sorrel/report/report_json.hpp"
#include "tools/sorrel/report/report_page.hpp"
#include "tools/sorrel/report/timeline.hpp"
#include "unit/base/temporary_folder.hpp"

namespace sorrel::tool {
namespace {

class ReportTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return (folder / "job.trace").string(); }

  void read(JobFile& file) {
    Result<JobTrace> result = file.read();
    ASSERT_TRUE(result.has_value()) << result.error();
    job = std::move(result).value();
    analysis = analyze(job, WaitCauses(job));
  }

  [[nodiscard]] std::int64_t waits(std::uint32_t rank, WaitKind kind) const {
    return analysis.ranks[rank].waits[static_cast<std::size_t>(kind)].ns;
  }

  [[nodiscard]] std::int64_t exposed(std::uint32_t rank, WaitKind kind) const {
    return analysis.ranks[rank].waits[static_cast<std::size_t>(kind)].exposed_ns;
  }

  /// What lies behind the waiting of all ranks, of one kind and rank.
  [[nodiscard]] std::int64_t behind(RootKind kind, std::uint32_t rank) const {
    return std::accumulate(analysis.blames.begin(), analysis.blames.end(), std::int64_t{0},
                           [&](std::int64_t sum, const Blame& blame) {
                             return sum + (blame.kind == kind && blame.rank == rank ? blame.ns : 0);
                           });
  }

  /// The time of the critical path of one kind and rank.
  [[nodiscard]] std::int64_t on_path(PathKind kind, std::uint32_t rank) const {
    std::int64_t sum = 0;
    for (const PathStep& step : analysis.path)
      if (step.kind == kind && step.rank == rank) sum += step.time.ns();
    return sum;
  }

  void expect_path_without_gaps() const {
    std::int64_t end = 0;
    for (const PathStep& step : analysis.path) {
      EXPECT_EQ(step.time.begin, end);
      end = step.time.end;
    }
    EXPECT_EQ(end, job.end_ns);
  }

  const TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
  JobTrace job;
  Analysis analysis;
};

/// Rank 0 waits from 3 to 7 ms for what rank 1 sends at 6.1 ms, after computing.
void write_late_sender(JobFile& file) {
  file.run(0, 0, {0, 3 * ms});
  file.run(0, std::nullopt, {3 * ms, 7 * ms});
  file.run(0, 0, {7 * ms, 10 * ms});
  file.call(0, {.function = "MPI_Recv",
                .time = {2 * ms, 8 * ms},
                .wait = Interval{3 * ms, 7 * ms},
                .line = 10});
  file.run(1, 1, {0, 9 * ms});
  file.call(1, {.function = "MPI_Send", .time = {6 * ms, 6500 * us}, .line = 20});
  file.message(1, 0, {6100 * us, 6900 * us}, 1000);
}

TEST_F(ReportTest, AReceiveThatWaitsForItsSendHasALateSender) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  read(file);
  EXPECT_EQ(waits(0, WaitKind::late_sender), 3100 * us);
  EXPECT_EQ(waits(0, WaitKind::in_flight), 900 * us);
  EXPECT_EQ(analysis.ranks[0].wait_ns(), 4 * ms);
  EXPECT_EQ(analysis.ranks[0].exposed_ns(), 4 * ms);
  EXPECT_EQ(analysis.ranks[1].wait_ns(), 0);
  EXPECT_EQ(analysis.ranks[0].compute_ns, 4 * ms);
  EXPECT_EQ(analysis.ranks[0].mpi_ns, 2 * ms);
  // It computed until 6 ms, then it was in the send.
  EXPECT_EQ(behind(RootKind::computes, 1), 3 * ms);
  EXPECT_EQ(behind(RootKind::in_mpi, 1), 100 * us);
  EXPECT_EQ(behind(RootKind::in_flight, no_index), 900 * us);
  ASSERT_FALSE(analysis.ranks[0].blames.empty());
  const Blame& most = analysis.ranks[0].blames.front();
  EXPECT_EQ(most.rank, 1U);
  EXPECT_EQ(text_of(&job.sites[most.site].place), "solve (heat.c:20)");
}

TEST_F(ReportTest, TheCriticalPathFollowsTheMessage) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  read(file);
  expect_path_without_gaps();
  EXPECT_EQ(on_path(PathKind::computes, 1), 6 * ms);
  EXPECT_EQ(on_path(PathKind::in_mpi, 1), 100 * us);
  EXPECT_EQ(on_path(PathKind::in_flight, 0), 900 * us);
  EXPECT_EQ(on_path(PathKind::in_mpi, 0), 1 * ms);
  EXPECT_EQ(on_path(PathKind::computes, 0), 2 * ms);
}

TEST_F(ReportTest, ASendThatWaitsForItsReceiveHasALateReceiver) {
  JobFile file(path(), {0, 1});
  file.run(0, 0, {0, 2 * ms});
  file.run(0, std::nullopt, {2 * ms, 8 * ms});
  file.run(0, 0, {8 * ms, 10 * ms});
  file.call(0,
            {.function = "MPI_Ssend", .time = {1 * ms, 9 * ms}, .wait = Interval{2 * ms, 8 * ms}});
  file.run(1, 1, {0, 9 * ms});
  file.call(1, {.function = "MPI_Recv", .time = {7 * ms, 8 * ms}});
  file.message(0, 1, {1500 * us, 7500 * us}, 100'000);
  read(file);
  EXPECT_EQ(waits(0, WaitKind::late_receiver), 5 * ms);
  EXPECT_EQ(waits(0, WaitKind::in_flight), 1 * ms);
  EXPECT_EQ(behind(RootKind::computes, 1), 5 * ms);
  expect_path_without_gaps();
  EXPECT_EQ(on_path(PathKind::computes, 1), 7 * ms);
}

TEST_F(ReportTest, AMessageInFlightIsNoLateRank) {
  JobFile file(path(), {0, 1});
  file.run(0, 0, {0, 2 * ms});
  file.run(0, std::nullopt, {2 * ms, 5 * ms});
  file.run(0, 0, {5 * ms, 6 * ms});
  file.call(0,
            {.function = "MPI_Recv", .time = {2 * ms, 5 * ms}, .wait = Interval{2 * ms, 5 * ms}});
  file.run(1, 1, {0, 3 * ms});
  file.call(1, {.function = "MPI_Send", .time = {1 * ms, 2 * ms}});
  file.message(1, 0, {1 * ms, 5 * ms}, 8);
  read(file);
  EXPECT_EQ(waits(0, WaitKind::late_sender), 0);
  EXPECT_EQ(waits(0, WaitKind::in_flight), 3 * ms);
}

/// Both call a collective of the communicator 5: rank 0 at 2 ms, rank 1 at 5 ms; it ends at 6 ms.
void write_collective(JobFile& file, const char* function, std::optional<std::int64_t> root) {
  file.run(0, 0, {0, 2 * ms});
  file.run(0, std::nullopt, {2 * ms, 6 * ms});
  file.run(0, 0, {6 * ms, 10 * ms});
  file.call(0, {.function = function,
                .time = {2 * ms, 6 * ms},
                .wait = Interval{2 * ms, 6 * ms},
                .line = 30,
                .comm = 5,
                .root = root});
  file.run(1, 1, {0, 9 * ms});
  file.call(1,
            {.function = function, .time = {5 * ms, 6 * ms}, .line = 30, .comm = 5, .root = root});
}

TEST_F(ReportTest, TheLastMemberOfACollectiveIsLate) {
  JobFile file(path(), {0, 1});
  write_collective(file, "MPI_Allreduce", std::nullopt);
  read(file);
  EXPECT_EQ(waits(0, WaitKind::collective), 3 * ms);
  EXPECT_EQ(waits(0, WaitKind::in_flight), 1 * ms);
  EXPECT_EQ(behind(RootKind::computes, 1), 3 * ms);
  expect_path_without_gaps();
  EXPECT_EQ(on_path(PathKind::computes, 1), 5 * ms);
  EXPECT_EQ(on_path(PathKind::computes, 0), 4 * ms);
}

TEST_F(ReportTest, ABroadcastWaitsForItsRoot) {
  JobFile file(path(), {0, 1});
  write_collective(file, "MPI_Bcast", 1);
  read(file);
  EXPECT_EQ(waits(0, WaitKind::late_root), 3 * ms);
}

TEST_F(ReportTest, TheRootOfABroadcastWaitsForNoMember) {
  JobFile file(path(), {0, 1});
  write_collective(file, "MPI_Bcast", 0);
  read(file);
  EXPECT_EQ(waits(0, WaitKind::in_flight), 4 * ms);
}

TEST_F(ReportTest, TheRootOfAReductionWaitsForTheLastMember) {
  JobFile file(path(), {0, 1});
  write_collective(file, "MPI_Reduce", 0);
  read(file);
  EXPECT_EQ(waits(0, WaitKind::early_root), 3 * ms);
}

TEST_F(ReportTest, CollectivesOfOtherCommunicatorsDoNotMeet) {
  JobFile file(path(), {0, 1});
  file.run(0, 0, {0, 2 * ms});
  file.run(0, std::nullopt, {2 * ms, 3 * ms});
  file.run(0, 0, {3 * ms, 4 * ms});
  file.call(0, {.function = "MPI_Barrier",
                .time = {2 * ms, 3 * ms},
                .wait = Interval{2 * ms, 3 * ms},
                .comm = 5});
  file.run(1, 1, {0, 4 * ms});
  file.call(1, {.function = "MPI_Barrier", .time = {2500 * us, 3 * ms}, .comm = 6});
  read(file);
  EXPECT_EQ(waits(0, WaitKind::collective), 0);
  EXPECT_EQ(waits(0, WaitKind::other), 1 * ms);
}

/// Two ranks on one worker: while rank 0 waits, rank 1 computes, and sends at once.
void write_hidden_wait(JobFile& file) {
  file.run(0, 0, {0, 2 * ms});
  file.run(0, 1, {2 * ms, 7 * ms});
  file.run(0, 0, {7 * ms, 8 * ms});
  file.call(0,
            {.function = "MPI_Recv", .time = {1 * ms, 7 * ms}, .wait = Interval{2 * ms, 7 * ms}});
  file.call(1, {.function = "MPI_Send", .time = {3 * ms, 4 * ms}});
  file.message(1, 0, {3 * ms, 3 * ms}, 8);
}

TEST_F(ReportTest, AWaitIsHiddenWhileTheWorkerRunsAnotherRank) {
  JobFile file(path(), {0, 0});
  write_hidden_wait(file);
  read(file);
  EXPECT_EQ(waits(0, WaitKind::late_sender), 1 * ms);
  EXPECT_EQ(waits(0, WaitKind::ready), 4 * ms);
  EXPECT_EQ(analysis.exposed_ns(), 0);
  EXPECT_EQ(exposed(0, WaitKind::ready), 0);
}

TEST_F(ReportTest, TheCriticalPathStaysOnABusyWorker) {
  JobFile file(path(), {0, 0});
  write_hidden_wait(file);
  read(file);
  expect_path_without_gaps();
  // After 3 ms the message was there, but the worker was not free.
  EXPECT_EQ(on_path(PathKind::computes, 1), 4 * ms);
  EXPECT_EQ(on_path(PathKind::in_mpi, 1), 1 * ms);
  EXPECT_EQ(on_path(PathKind::computes, 0), 2 * ms);
}

TEST_F(ReportTest, AWaitForARankThatWaitsIsFollowed) {
  // Rank 0 waits for rank 1, which waits for rank 2, which computes until 6 ms.
  JobFile file(path(), {0, 1, 2});
  const auto waits_for = [&](std::uint32_t rank, std::int64_t begin, std::int64_t end) {
    file.run(rank, rank, {0, begin});
    file.run(rank, std::nullopt, {begin, end});
    file.run(rank, rank, {end, 10 * ms});
    file.call(rank, {.function = "MPI_Recv", .time = {begin, end}, .wait = Interval{begin, end}});
  };
  waits_for(0, 1 * ms, 7 * ms);
  waits_for(1, 2 * ms, 6 * ms);
  file.run(2, 2, {0, 10 * ms});
  file.call(1, {.function = "MPI_Send", .time = {7 * ms, 7 * ms + us}});
  file.call(2, {.function = "MPI_Send", .time = {6 * ms, 6 * ms + us}});
  file.message(2, 1, {6 * ms, 6 * ms}, 8);
  file.message(1, 0, {7 * ms, 7 * ms}, 8);
  read(file);
  EXPECT_EQ(waits(0, WaitKind::late_sender), 6 * ms);
  std::int64_t by_rank_2 = 0;
  std::int64_t by_rank_1 = 0;
  for (const Blame& blame : analysis.ranks[0].blames) {
    if (blame.kind != RootKind::computes) continue;
    (blame.rank == 2 ? by_rank_2 : by_rank_1) += blame.ns;
  }
  // From 2 to 6 ms rank 1 waited itself; before and after it computed.
  EXPECT_EQ(by_rank_2, 4 * ms);
  EXPECT_EQ(by_rank_1, 2 * ms);
}

TEST_F(ReportTest, TheMatrixHasAllMessages) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  file.message(1, 0, {8 * ms, 8 * ms}, 24);
  file.message(0, 1, {8 * ms, 8 * ms}, 5);
  read(file);
  ASSERT_EQ(analysis.matrix.size(), 2U);
  EXPECT_EQ(analysis.matrix[0].source, 0U);
  EXPECT_EQ(analysis.matrix[0].bytes, 5U);
  EXPECT_EQ(analysis.matrix[1].count, 2U);
  EXPECT_EQ(analysis.matrix[1].bytes, 1024U);
}

TEST_F(ReportTest, TheNumbersInJsonAreThoseOfTheAnalysis) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  read(file);
  const Json json = json_of(job, analysis, {});
  EXPECT_EQ(json["rank_count"], 2);
  EXPECT_DOUBLE_EQ(json["ranks"][0]["waits"]["late_sender"]["seconds"], 3.1e-3);
  EXPECT_EQ(json["ranks"][0]["behind_waits"][0]["place"], "solve (heat.c:20)");
  EXPECT_EQ(json["critical_path"][0]["rank"], 1);
  EXPECT_EQ(json["critical_path"][0]["what"], "computes");
  EXPECT_EQ(json["messages"][0]["bytes"], 1000);
}

TEST_F(ReportTest, AReplayOfATraceTakesItsTime) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  read(file);
  const ReplayProgram program = make_replay_program(job, WaitCauses(job));
  // The message meets its receive 0.9 ms after it was sent, when the receiver waits already.
  EXPECT_EQ(replay(program, {}), job.end_ns);
}

TEST_F(ReportTest, AReplayOfACollectiveTakesItsTime) {
  JobFile file(path(), {0, 1});
  write_collective(file, "MPI_Allreduce", std::nullopt);
  read(file);
  EXPECT_EQ(replay(make_replay_program(job, WaitCauses(job)), {}), job.end_ns);
}

TEST_F(ReportTest, AdviceNamesTheLateRankAndItsLine) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  read(file);
  const Outlook outlook = find_outlook(job, WaitCauses(job), analysis, {});
  const auto found = std::ranges::find_if(outlook.advice, [](const Advice& advice) {
    return advice.text.find("imbalance, not latency") != std::string::npos;
  });
  ASSERT_NE(found, outlook.advice.end());
  EXPECT_EQ(found->text,
            "75 % of the waiting of rank 0 is for rank 1, which computes before MPI_Send in solve "
            "(heat.c:20): imbalance, not latency.");
  EXPECT_EQ(outlook.replayed_ns, job.end_ns);
}

TEST_F(ReportTest, TimesOfRanksAndWorkersAddUp) {
  JobFile file(path(), {0, 0});
  write_hidden_wait(file);
  read(file);
  for (const RankTimes& rank : analysis.ranks)
    EXPECT_EQ(rank.compute_ns + rank.mpi_ns + rank.wait_ns(), rank.life.ns());
  EXPECT_EQ(analysis.workers[0].compute_ns, 6 * ms);
  EXPECT_EQ(analysis.workers[0].mpi_ns, 2 * ms);
  EXPECT_EQ(analysis.workers[0].idle_ns, 0);
}

TEST_F(ReportTest, ARankThatHasYieldedIsReady) {
  // Rank 0 tests for a message from 1 to 5 ms, and lets rank 1 run from 2 to 4 ms.
  JobFile file(path(), {0, 0});
  file.run(0, 0, {0, 2 * ms});
  file.run(0, 1, {2 * ms, 4 * ms});
  file.run(0, 0, {4 * ms, 6 * ms});
  file.call(0, {.function = "MPI_Test", .time = {1 * ms, 5 * ms}});
  read(file);
  EXPECT_EQ(analysis.ranks[0].compute_ns, 2 * ms);
  EXPECT_EQ(analysis.ranks[0].mpi_ns, 2 * ms);
  EXPECT_EQ(waits(0, WaitKind::ready), 2 * ms);
  EXPECT_EQ(analysis.exposed_ns(), 0);
  EXPECT_EQ(analysis.sites[0].range.begin, 4 * ms);
  EXPECT_EQ(analysis.sites[0].range.end, 4 * ms);
}

/// `rank_count` ranks on two workers exchange a message with the next one in each of ten steps,
/// which takes a millisecond from worker to worker.
void write_ring(JobFile& file, std::uint32_t rank_count) {
  constexpr std::int64_t step_ns = 1 * ms + 100 * us;
  for (std::uint32_t w = 0; w < 2; ++w) {
    for (std::int64_t begin = 0; begin < 10 * step_ns; begin += step_ns) {
      const std::uint32_t count = rank_count / 2;
      const std::int64_t own_ns = 100 * us / count;
      for (std::uint32_t i = 0; i < count; ++i)
        file.run(w, w * count + i, {begin + i * own_ns, begin + (i + 1) * own_ns});
      file.run(w, std::nullopt, {begin + 100 * us, begin + step_ns});
    }
  }
  for (std::uint32_t rank = 0; rank < rank_count; ++rank) {
    const std::uint32_t count = rank_count / 2;
    const std::int64_t end_ns = (rank % count + 1) * (100 * us / count);
    for (std::int64_t begin = 0; begin < 10 * step_ns; begin += step_ns) {
      file.call(rank, {.function = "MPI_Sendrecv",
                       .time = {begin + end_ns - 2 * us, begin + step_ns},
                       .wait = Interval{begin + end_ns, begin + step_ns}});
      file.message(rank, (rank + 1) % rank_count, {begin + end_ns - us, begin + step_ns}, 8);
    }
  }
}

TEST_F(ReportTest, TwoRanksThatWaitForMessagesTellNothingOfMore) {
  JobFile file(path(), {0, 1});
  write_ring(file, 2);
  read(file);
  const Outlook outlook = find_outlook(job, WaitCauses(job), analysis, {});
  EXPECT_TRUE(std::ranges::none_of(outlook.predictions,
                                   [](const Prediction& each) { return each.rank_factor > 1; }));
  ASSERT_EQ(outlook.not_predicted.size(), 1U);
  EXPECT_EQ(outlook.not_predicted[0],
            "other numbers of ranks: messages in flight matter here, and fewer than 4 ranks do not "
            "show which ones are neighbours; a trace with other numbers tells more");
}

TEST_F(ReportTest, LateSendersThatWaitForMessagesAreLatency) {
  // Ranks 0 and 3 wait for rank 1, which waits for a message that is in flight.
  JobFile file(path(), {0, 1, 2, 3});
  const auto receives = [&](std::uint32_t rank, std::int64_t end) {
    file.run(rank, rank, {0, 1 * ms});
    file.run(rank, std::nullopt, {1 * ms, end});
    file.run(rank, rank, {end, 10 * ms});
    file.call(rank,
              {.function = "MPI_Recv", .time = {900 * us, end}, .wait = Interval{1 * ms, end}});
  };
  receives(1, 9 * ms);
  receives(0, 9200 * us);
  receives(3, 9200 * us);
  file.run(2, 2, {0, 1 * ms});
  file.call(2, {.function = "MPI_Send", .time = {900 * us, 950 * us}});
  file.call(1, {.function = "MPI_Send", .time = {9 * ms, 9200 * us}});
  file.message(2, 1, {900 * us, 9 * ms}, 8);
  file.message(1, 0, {9100 * us, 9200 * us}, 8);
  file.message(1, 3, {9100 * us, 9200 * us}, 8);
  read(file);
  const Outlook outlook = find_outlook(job, WaitCauses(job), analysis, {});
  ASSERT_FALSE(outlook.advice.empty());
  EXPECT_NE(outlook.advice[0].text.find("messages and collectives are in flight: latency"),
            std::string::npos)
      << outlook.advice[0].text << outlook.advice[0].evidence;
}

TEST_F(ReportTest, APredictionHasTheRangeOfItsLatencies) {
  JobFile file(path(), {0, 1});
  write_collective(file, "MPI_Allreduce", std::nullopt);
  read(file);
  const Outlook outlook = find_outlook(job, WaitCauses(job), analysis, {});
  ASSERT_FALSE(outlook.predictions.empty());
  for (const Prediction& each : outlook.predictions) {
    EXPECT_LE(each.range.begin, each.ns);
    EXPECT_GE(each.range.end, each.ns);
  }
}

TEST_F(ReportTest, ThePageIsWholeAndNeedsNoOtherFile) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  read(file);
  const WaitCauses causes(job);
  const Json json = json_of(job, analysis, {});
  const std::string page = page_of("a </script> & <name>", json, job, causes, analysis);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(page.ends_with("</html>\n"));
  for (const char* outside : {"http:", "https:", "src=", "href=", "@import", "url("})
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  EXPECT_NE(page.find("<title>a &lt;/script> &amp; &lt;name>"), std::string::npos);
  // Each script ends once, and the data are JSON.
  const auto count = [&](const std::string& text) {
    std::size_t found = 0;
    for (std::size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("<script"), count("</script>"));
  const std::string begin = "id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  const Json data = Json::parse(page.substr(at, page.find("</script>", at) - at));
  EXPECT_EQ(data["trace"], "a </script> & <name>");
  EXPECT_EQ(data["arrows"].size(), 4U);
}

TEST_F(ReportTest, RowsOfTheTimelineHaveTheWholeTime) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  read(file);
  const WaitCauses causes(job);
  std::vector<std::pair<RowState, std::int64_t>> spans;
  for (const Span& span : spans_of_rank(job, causes, 0))
    spans.emplace_back(span.state, span.ns);
  const auto late = static_cast<RowState>(static_cast<int>(RowState::first_wait) +
                                          static_cast<int>(WaitKind::late_sender));
  const auto in_flight = static_cast<RowState>(static_cast<int>(RowState::first_wait) +
                                               static_cast<int>(WaitKind::in_flight));
  EXPECT_EQ(spans, (std::vector<std::pair<RowState, std::int64_t>>{{RowState::computes, 2 * ms},
                                                                   {RowState::in_mpi, 1 * ms},
                                                                   {late, 3100 * us},
                                                                   {in_flight, 900 * us},
                                                                   {RowState::in_mpi, 1 * ms},
                                                                   {RowState::computes, 2 * ms}}));
  std::int64_t idle_ns = 0;
  for (const Span& span : spans_of_worker(job, 0))
    if (span.state == RowState::idle) idle_ns += span.ns;
  EXPECT_EQ(idle_ns, 4 * ms);
}

/// The lengths of the spans of a row of a level, by state.
std::array<std::int64_t, 16> lengths_of(const TimelineLevel& level, std::size_t row) {
  std::array<std::int64_t, 16> lengths{};
  std::size_t at = level.row_begins[row];
  const auto number = [&] {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(level.bytes[at++]);
      value |= std::uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return value;
    }
  };
  while (at < level.row_begins[row + 1]) {
    const std::uint64_t head = number();
    lengths[head % 16] += static_cast<std::int64_t>(number()) * level.unit_ns;
  }
  return lengths;
}

TEST_F(ReportTest, ACoarseLevelShowsStatesByTheirShare) {
  // Ten thousand times 0.7 us of computing and 0.3 us of MPI: far more than there are bins.
  JobFile file(path(), {0});
  constexpr int call_count = 10'000;
  for (int i = 0; i < call_count; ++i)
    file.call(0, {.function = "MPI_Iprobe", .time = {i * us + 700, (i + 1) * us}});
  file.run(0, 0, {0, call_count * us});
  read(file);
  const std::vector<TimelineLevel> levels = make_levels(job, WaitCauses(job), 1 << 20);
  ASSERT_GE(levels.size(), 2U);
  const auto exact = lengths_of(levels.back(), 0);
  EXPECT_EQ(exact[static_cast<std::size_t>(RowState::computes)], call_count * 700);
  EXPECT_EQ(exact[static_cast<std::size_t>(RowState::in_mpi)], call_count * 300);
  const auto coarse = lengths_of(levels.front(), 0);
  EXPECT_NEAR(static_cast<double>(coarse[static_cast<std::size_t>(RowState::in_mpi)]),
              call_count * 300, 2.0 * static_cast<double>(levels.front().unit_ns));
  // If the exact spans take too much, bins do.
  const std::vector<TimelineLevel> few = make_levels(job, WaitCauses(job), 20'000);
  ASSERT_FALSE(few.empty());
  std::size_t bytes = 0;
  for (const TimelineLevel& level : few)
    bytes += level.bytes.size();
  EXPECT_LE(bytes, 20'000U);
}

TEST_F(ReportTest, FilesThatAreNoTracesAreErrors) {
  const auto error_of = [&](const std::string& bytes) {
    std::ofstream(path(), std::ios::binary) << bytes;
    const Result<JobTrace> result = read_job_trace(path());
    return result.has_value() ? "no error" : result.error();
  };
  EXPECT_EQ(error_of(""), path() + " is empty");
  const std::string foreign = path() + " is not a trace of `sorrel run --trace`";
  EXPECT_EQ(error_of("this is a text, and no trace"), foreign);
  EXPECT_EQ(error_of(std::string("\x7f"
                                 "ELF",
                                 4) +
                     std::string(1000, '\0')),
            foreign);
  // A trace of another program: packets without ranks.
  EXPECT_EQ(error_of(std::string("\x0a\x02\x40\x05", 4)), foreign);
  EXPECT_NE(read_job_trace((folder / "absent").string()).error().find("cannot be read"),
            std::string::npos);
  EXPECT_NE(read_job_trace(folder.string()).error().find("cannot be read: Is a directory"),
            std::string::npos);
}

TEST_F(ReportTest, AFileThatIsCutOffAnywhereIsAnError) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  read(file);
  std::string bytes;
  {
    std::ifstream whole(path(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(whole), {});
  }
  constexpr std::size_t cut_count = 60;
  std::size_t error_count = 0;
  for (std::size_t cut = 1; cut <= cut_count; ++cut) {
    std::ofstream(path(), std::ios::binary) << bytes.substr(0, bytes.size() - cut);
    const Result<JobTrace> result = read_job_trace(path());
    if (result.has_value()) continue;
    EXPECT_EQ(result.error().find(path() + " is cut off"), 0U) << result.error();
    ++error_count;
  }
  // Between two packets nothing shows that there were more; a packet has far more than ten bytes.
  EXPECT_GE(error_count, cut_count - cut_count / 10);
}

TEST_F(ReportTest, NoiseDoesNotCrash) {
  JobFile file(path(), {0, 1});
  write_late_sender(file);
  read(file);
  std::ifstream whole(path(), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(whole), {});
  std::uint32_t random = 7;
  for (int trial = 0; trial < 300; ++trial) {
    std::string damaged = bytes;
    for (int i = 0; i < 4; ++i) {
      random = random * 1664525 + 1013904223;
      damaged[random % damaged.size()] = static_cast<char>(random >> 24);
    }
    std::ofstream(path(), std::ios::binary) << damaged;
    const Result<JobTrace> result = read_job_trace(path());
    if (result.has_value()) (void)analyze(result.value(), WaitCauses(result.value()));
  }
}

}  // namespace
}  // namespace sorrel::tool
