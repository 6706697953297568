#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

#include "part_file.hpp"
#include "tools/sorrel/report/advice.hpp"
#include "tools/sorrel/report/analysis.hpp"
#include "tools/sorrel/report/job_trace.hpp"
#include "tools/sorrel/report/wait_causes.hpp"
#include "tools/sorrel/trace/merge.hpp"
#include "unit/base/temporary_folder.hpp"

namespace sorrel::tool {
namespace {

class TraceMergeTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file() const { return (folder / "job.trace").string(); }

  [[nodiscard]] JobTrace merged() const {
    const Result<MergedTrace> result = merge_trace(folder.string(), file());
    EXPECT_TRUE(result.has_value()) << result.error();
    Result<JobTrace> job = read_job_trace(file());
    EXPECT_TRUE(job.has_value()) << job.error();
    return std::move(job).value();
  }

  const TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
};

TEST_F(TraceMergeTest, CallsOfARankThatMovesAreInOrder) {
  RankThatMoves().write(folder);
  const JobTrace job = merged();
  ASSERT_EQ(job.ranks.size(), 2U);
  const TracedRank& rank = job.ranks[0];
  ASSERT_EQ(rank.calls.size(), 1U);
  EXPECT_EQ(rank.calls[0].time.ns(), 4'000'000);
  ASSERT_EQ(rank.waits.size(), 1U);
  EXPECT_EQ(rank.waits[0].time.ns(), 2'000'000);
  EXPECT_EQ(rank.waits[0].call, 0U);
  ASSERT_EQ(rank.runs.size(), 2U);
  EXPECT_EQ(rank.runs[0].worker, 0U);
  EXPECT_EQ(rank.runs[1].worker, 1U);
  EXPECT_EQ(rank.home, 1U);
}

TEST_F(TraceMergeTest, AReportOfTakenThreadsHasIdleTimeAndNoAdvice) {
  // Rank 0 waits from 2 ms on; from then on the thread runs the other worker, until 30 ms.
  PartFile part;
  part.add(0, Kind::rank, rank_0, 0);
  part.add(1 * ms, Kind::call, rank_0, receive_name);
  part.add(2 * ms, Kind::wait, rank_0, receive_name);
  part.add(2 * ms, Kind::thread, std::uint64_t{17} << 32 | 1, 1 * ms, 1 * ms);
  part.add(30 * ms, Kind::resume);
  part.add(30 * ms, Kind::thread, std::uint64_t{17} << 32 | 2, 4 * ms, 5 * ms);
  part.add(31 * ms, Kind::result, rank_0);
  part.add(32 * ms, Kind::end_then_idle, rank_0, receive_name);
  part.add(40 * ms, Kind::clock, 40 * ms, 40 * ms);
  part.write(folder);
  PartFile second(1);
  second.add(0, Kind::rank, rank_1, 1);
  second.add(0, Kind::yield, rank_1, send_name);
  second.add(8 * ms, Kind::end_then_idle, rank_1, send_name);
  second.add(40 * ms, Kind::clock, 40 * ms, 40 * ms);
  second.write(folder);
  PartFile governor(trace::no_worker);
  governor.add(2 * ms, Kind::width, 1, 2);
  governor.add(40 * ms, Kind::clock, 40 * ms, 40 * ms);
  governor.write(folder);
  const JobTrace job = merged();
  ASSERT_EQ(job.workers.size(), 2U);
  EXPECT_EQ(job.workers[0].away_ns, 28'000'000);
  EXPECT_EQ(job.use.whole_ns(), 64'000'000);
  EXPECT_EQ(job.use.granted_ns, 34'000'000);
  EXPECT_EQ(job.use.away_ns, 28'000'000);
  EXPECT_EQ(job.use.core_ns, 3'000'000);
  EXPECT_EQ(job.use.core_wait_ns, 3'900'000);
  const WaitCauses causes(job);
  const Analysis analysis = analyze(job, causes);
  EXPECT_EQ(analysis.workers[0].compute_ns, 1'000'000);
  EXPECT_EQ(analysis.workers[0].mpi_ns, 2'000'000);
  EXPECT_EQ(analysis.workers[0].idle_ns, 29'000'000);
  EXPECT_EQ(analysis.workers[0].away_ns, 28'000'000);
  EXPECT_EQ(
      analysis.all_workers.compute_ns + analysis.all_workers.mpi_ns + analysis.all_workers.idle_ns,
      job.use.whole_ns());
  // The rank waits with an idle worker.
  EXPECT_EQ(analysis.ranks[0].exposed_ns(), 28'000'000);
  const Outlook outlook = find_outlook(job, causes, analysis, {});
  EXPECT_TRUE(outlook.advice.empty());
  EXPECT_TRUE(outlook.predictions.empty());
  ASSERT_EQ(outlook.not_predicted.size(), 1U);
  EXPECT_NE(outlook.not_predicted[0].find("threads were taken"), std::string::npos);
}

TEST_F(TraceMergeTest, TimesOfMachinesAreRelatedByTheirWallClocks) {
  constexpr auto machine = static_cast<std::uint64_t>(trace::TextName::machine);
  PartFile early(0, 1000 * ms);
  early.add_text(machine, "early");
  early.add(0, Kind::rank, rank_0, 0);
  early.add(3 * ms, Kind::call, rank_0, send_name);
  early.add(4 * ms, Kind::result, rank_0);
  early.add(20 * ms, Kind::clock, 20 * ms, 1020 * ms);
  early.write(folder);
  // Begins 5 ms later, with a counter that is twice as fast.
  PartFile late(std::uint64_t{1} << 32, 1005 * ms);
  late.add_text(machine, "late");
  late.add(0, Kind::rank, rank_1, 1);
  late.add(4 * ms, Kind::call, rank_1, receive_name);
  late.add(10 * ms, Kind::result, rank_1);
  late.add(40 * ms, Kind::clock, 20 * ms, 1025 * ms);
  late.write(folder);
  const JobTrace job = merged();
  ASSERT_EQ(job.ranks.size(), 2U);
  ASSERT_EQ(job.ranks[0].calls.size(), 1U);
  ASSERT_EQ(job.ranks[1].calls.size(), 1U);
  EXPECT_EQ(job.ranks[0].calls[0].time.ns(), 1'000'000);
  EXPECT_EQ(job.ranks[1].calls[0].time.ns(), 3'000'000);
  EXPECT_EQ(job.ranks[1].calls[0].time.begin - job.ranks[0].calls[0].time.begin, 4'000'000);
}

TEST_F(TraceMergeTest, ARankThatIsLentRunsOnTheOtherWorker) {
  PartFile owner(0);
  owner.add(0, Kind::rank, rank_0, 0);
  owner.add(0, Kind::rank, rank_1, 1);
  owner.add(1 * ms, Kind::result, rank_0);
  owner.add(2 * ms, Kind::lend, rank_0);
  owner.add(9 * ms, Kind::wait, rank_1, receive_name);
  owner.add(10 * ms, Kind::end_then_idle, rank_0, receive_name);
  owner.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  owner.write(folder);
  PartFile borrower(1);
  borrower.add(1 * ms, Kind::end_then_idle);
  borrower.add(3 * ms, Kind::wake);
  borrower.add(3 * ms, Kind::borrow, rank_0, 0);
  borrower.add(8 * ms, Kind::give_back, rank_0, 0);
  borrower.add(8 * ms, Kind::wait_then_idle);
  borrower.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  borrower.write(folder);
  const JobTrace job = merged();
  const TracedRank& rank = job.ranks[0];
  ASSERT_EQ(rank.runs.size(), 3U);
  EXPECT_EQ(job.run_at(rank.runs[0]).time.ns(), 1'000'000);
  EXPECT_EQ(rank.runs[1].worker, 1U);
  EXPECT_TRUE(job.run_at(rank.runs[1]).is_lent);
  EXPECT_EQ(job.run_at(rank.runs[1]).time.ns(), 5'000'000);
  EXPECT_EQ(job.run_at(rank.runs[2]).time.ns(), 1'000'000);
  EXPECT_EQ(rank.home, 0U);
  EXPECT_EQ(job.workers[0].runs[1].time.ns(), 7'000'000) << "the other rank ran meanwhile";
}

TEST_F(TraceMergeTest, LoopsTasksAndRegionsAreWorkOfTheirRankOrOfAWorkerThatHelps) {
  constexpr std::uint64_t task_name = std::uint64_t{1} << 63 | 5;
  PartFile owner(0);
  owner.add(0, Kind::rank, rank_0, 0);
  owner.add(1 * ms, Kind::loop, rank_0, 0x7000, 100);
  owner.add(2 * ms, Kind::chunk, rank_0, 0, 50);
  owner.add_text(task_name, "update");
  owner.add(3 * ms, Kind::task, rank_0, task_name, trace::TaskRecord{4, 2}.word());
  owner.add(4 * ms, Kind::task_end, rank_0);
  owner.add(5 * ms, Kind::chunk_end, rank_0);
  owner.add(6 * ms, Kind::loop_end, rank_0);
  owner.add(7 * ms, Kind::region, rank_0, 0x7100, 4);
  owner.add(7 * ms, Kind::call, rank_0, send_name);
  // A part that never ends, and an end without a begin.
  owner.add(8 * ms, Kind::task_end, rank_0);
  owner.add(9 * ms, Kind::end_then_idle, rank_0, send_name);
  owner.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  owner.write(folder);
  PartFile helper(1);
  helper.add(1 * ms, Kind::wait_then_idle);
  helper.add(2 * ms, Kind::wake);
  helper.add(2 * ms, Kind::chunk, 0, 50, 100);
  helper.add(5 * ms, Kind::chunk_end);
  helper.add(6 * ms, Kind::wait_then_idle);
  helper.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  helper.write(folder);
  const JobTrace job = merged();
  const std::vector<WorkSpan>& work = job.ranks[0].work;
  ASSERT_EQ(work.size(), 6U);
  std::int64_t loop_ns = 0;
  for (const WorkSpan& span : work)
    if (span.kind == WorkKind::loop) loop_ns += span.time.ns();
  EXPECT_EQ(loop_ns, 4'000'000) << "without the task in it";
  EXPECT_EQ(work[2].kind, WorkKind::task);
  EXPECT_EQ(job.sites[work[2].site].function, "update");
  EXPECT_EQ(work.back().kind, WorkKind::openmp);
  ASSERT_EQ(job.ranks[0].calls.size(), 1U) << "a loop is no call";
  ASSERT_EQ(job.workers[1].help.size(), 1U);
  EXPECT_EQ(job.workers[1].help[0].time.ns(), 3'000'000);
}

TEST_F(TraceMergeTest, TheGovernorIsNoWorker) {
  RankThatMoves().write(folder);
  PartFile governor(trace::no_worker);
  governor.add(5 * ms, Kind::width, 1, 2);
  governor.write(folder);
  const Result<MergedTrace> result = merge_trace(folder.string(), file());
  ASSERT_TRUE(result.has_value()) << result.error();
  EXPECT_EQ(result.value().part_count, 2U);
  EXPECT_TRUE(result.value().warnings.empty());
  std::ifstream written(file(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(written),
                          std::istreambuf_iterator<char>()};
  EXPECT_NE(bytes.find("threads granted"), std::string::npos);
  EXPECT_EQ(merged().workers.size(), 2U);
}

TEST(PacketRecordTest, AllFieldsSurvive) {
  const trace::PacketRecord packet{.from = std::uint64_t{7} << 32 | 3,
                                   .to = std::uint64_t{70000} << 32,
                                   .packet_kind = 13,
                                   .bytes = (std::uint64_t{1} << 40) - 1};
  const trace::PacketRecord read = trace::PacketRecord::of(packet.as(Kind::packet_sent));
  EXPECT_EQ(read.from, packet.from);
  EXPECT_EQ(read.to, packet.to);
  EXPECT_EQ(read.packet_kind, packet.packet_kind);
  EXPECT_EQ(read.bytes, packet.bytes);
}

}  // namespace
}  // namespace sorrel::tool
