#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "part_file.hpp"
#include "tools/sorrel/trace/profile.hpp"
#include "tools/sorrel/trace/trace_part.hpp"
#include "trace/job_trace.hpp"
#include "unit/base/temporary_folder.hpp"

namespace sorrel::tool {
namespace {

class TraceProfileTest : public ::testing::Test {
 protected:
  const TemporaryFolder temporary;
  const std::filesystem::path folder = temporary.path();
};

/// Rank 0 receives from 1 ms on: it waits at 2 ms, rank 1 runs until it sends, 1000 bytes, at 5 ms
/// and ends at 6 ms; the call returns at 7 ms.
PartFile two_ranks() {
  PartFile part;
  part.add(0, Kind::rank, rank_0, 0);
  part.add(0, Kind::rank, rank_1, 1);
  part.add(1 * ms, Kind::call, rank_0, receive_name);
  part.add(2 * ms, Kind::wait, rank_0, receive_name);
  part.add(4 * ms, Kind::call, rank_1, send_name);
  part.add_message(
      5 * ms, Kind::send,
      {.context = 0, .tag = 3, .source = 1, .rank = 1, .destination = 0, .bytes = 1000});
  part.add(5 * ms, Kind::result, rank_1);
  part.add(6 * ms, Kind::end, rank_1, send_name);
  part.add(7 * ms, Kind::result, rank_0);
  part.add(9 * ms, Kind::end_then_idle, rank_0, receive_name);
  part.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  return part;
}

TEST_F(TraceProfileTest, TimesOfCallsAndRanksAreThoseOfTheRecords) {
  two_ranks().write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  const Profile& profile = read.value();
  const CallProfile& receive = profile.calls.at({"MPI_Recv", "-"});
  EXPECT_EQ(receive.count, 1U);
  EXPECT_EQ(receive.ns, 6'000'000);
  EXPECT_EQ(receive.wait_ns, 4'000'000);
  EXPECT_EQ(receive.rank_most, 0);
  const CallProfile& send = profile.calls.at({"MPI_Send", "-"});
  EXPECT_EQ(send.ns, 1'000'000);
  EXPECT_EQ(send.wait_ns, 0);
  EXPECT_EQ(send.message_count, 1U);
  EXPECT_EQ(send.bytes, 1000U);
  EXPECT_EQ(profile.message_sizes[9], 1U);
  // Rank 0 runs from 1 to 2 ms (what precedes the first event is not known), and from 6 to 9 ms.
  EXPECT_EQ(profile.ranks.at(0).compute_ns, 2'000'000);
  EXPECT_EQ(profile.ranks.at(0).transfer_ns, 2'000'000);
  EXPECT_EQ(profile.ranks.at(0).hidden_ns, 4'000'000);
  EXPECT_EQ(profile.ranks.at(1).compute_ns, 3'000'000);
  EXPECT_EQ(profile.ranks.at(1).transfer_ns, 1'000'000);
}

TEST_F(TraceProfileTest, APlaceInAScriptIsTheTextWithItsHash) {
  const std::string place = "solve (heat.py:12)";
  const std::uint64_t hash = trace::hash_of(place);
  PartFile part;
  part.add(0, Kind::rank, rank_0, 0);
  part.add_text(hash, place);
  part.add(1 * ms, Kind::call, rank_0, receive_name, hash);
  part.add(2 * ms, Kind::result, rank_0);
  part.add(3 * ms, Kind::call, rank_0, receive_name, trace::hash_of("a text that is lost"));
  part.add(4 * ms, Kind::result, rank_0);
  part.add(5 * ms, Kind::end_then_idle, rank_0, receive_name);
  part.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  part.write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(read.value().calls.at({"MPI_Recv", place}).count, 1U);
  EXPECT_EQ(read.value().calls.at({"MPI_Recv", "-"}).count, 1U);
}

TEST_F(TraceProfileTest, TheSummaryIsOneLine) {
  two_ranks().write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  // In 9 ms rank 0 computes 2 ms and rank 1 3 ms; in MPI, without waiting, are 2 ms and 1 ms. What
  // precedes the first event is idle.
  EXPECT_EQ(summary_of(read.value()),
            "summary: 2 ranks on 1 workers, 0.0090 s; workers compute 56 %, are in MPI 33 %, idle "
            "11 %; threads: without a thread 0.0 %, on a core not known; waiting 100 % hidden; "
            "balance 0.83; 1 messages, 1000 bytes");
}

TEST_F(TraceProfileTest, AWorkerWithoutAThreadIsIdle) {
  // Rank 0 waits at 2 ms. From then on the thread runs other workers; the message is there at 30
  // ms.
  PartFile part;
  part.add(0, Kind::rank, rank_0, 0);
  part.add(1 * ms, Kind::call, rank_0, receive_name);
  part.add(2 * ms, Kind::wait, rank_0, receive_name);
  part.add(30 * ms, Kind::resume);
  part.add(31 * ms, Kind::result, rank_0);
  part.add(32 * ms, Kind::end_then_idle, rank_0, receive_name);
  part.add(40 * ms, Kind::clock, 40 * ms, 40 * ms);
  part.write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  const WorkerProfile& worker = read.value().workers.at(0);
  EXPECT_EQ(worker.compute_ns, 1'000'000);
  EXPECT_EQ(worker.transfer_ns, 2'000'000);
  EXPECT_EQ(worker.away_ns, 28'000'000);
  EXPECT_EQ(worker.idle_ns, 29'000'000);
  const RankProfile& rank = read.value().ranks.at(0);
  EXPECT_EQ(rank.transfer_ns, 2'000'000);
  EXPECT_EQ(rank.wait_ns, 28'000'000);
  EXPECT_EQ(rank.hidden_ns, 0);
  EXPECT_NE(summary_of(read.value()).find("compute 3 %, are in MPI 6 %, idle 91 %"),
            std::string::npos)
      << summary_of(read.value());
}

TEST_F(TraceProfileTest, ARankThatYieldsInACallIsNotInMpi) {
  // Rank 0 tests for a message from 1 to 8 ms; rank 1 runs from 2 to 7 ms.
  PartFile part;
  part.add(0, Kind::rank, rank_0, 0);
  part.add(0, Kind::rank, rank_1, 1);
  part.add(1 * ms, Kind::call, rank_0, receive_name);
  part.add(2 * ms, Kind::yield, rank_0, receive_name);
  part.add(7 * ms, Kind::end, rank_1, send_name);
  part.add(8 * ms, Kind::result, rank_0);
  part.add(10 * ms, Kind::end_then_idle, rank_0, receive_name);
  part.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  part.write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(read.value().ranks.at(0).compute_ns, 2'000'000);
  EXPECT_EQ(read.value().ranks.at(0).transfer_ns, 2'000'000);
  EXPECT_EQ(read.value().ranks.at(0).wait_ns, 5'000'000);
  EXPECT_EQ(read.value().ranks.at(0).hidden_ns, 5'000'000);
  EXPECT_EQ(read.value().workers.at(0).compute_ns, 7'000'000);
  EXPECT_EQ(read.value().workers.at(0).idle_ns, 1'000'000);
}

TEST_F(TraceProfileTest, NonblockingOperationsAreInMpiAndHelpIsComputing) {
  // Rank 0 waits from 2 to 6 ms; its operation runs until 4 ms, then the worker helps a loop.
  PartFile part;
  part.add(0, Kind::rank, rank_0, 0);
  part.add(1 * ms, Kind::call, rank_0, receive_name);
  part.add(2 * ms, Kind::wait, rank_0, receive_name);
  part.add(4 * ms, Kind::wait, rank_0);
  part.add(4 * ms, Kind::chunk, 0, 0, 10);
  part.add(5 * ms, Kind::chunk_end);
  part.add(5 * ms, Kind::wait_then_idle);
  part.add(6 * ms, Kind::wake, rank_0, receive_name);
  part.add(7 * ms, Kind::result, rank_0);
  part.add(8 * ms, Kind::end_then_idle, rank_0, receive_name);
  part.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  part.write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  const WorkerProfile& worker = read.value().workers.at(0);
  EXPECT_EQ(worker.compute_ns, 2'000'000);
  EXPECT_EQ(worker.transfer_ns, 4'000'000);
  EXPECT_EQ(worker.idle_ns, 2'000'000);
  EXPECT_EQ(read.value().ranks.at(0).compute_ns, 1'000'000);
}

TEST_F(TraceProfileTest, TheUseOfThreadsIsPartOfTheProfile) {
  PartFile part;
  const auto add_thread = [&](std::uint64_t ns, std::uint64_t run_ns, std::uint64_t delay_ns) {
    constexpr std::uint64_t number = 17;
    part.add(ns, Kind::thread, number << 32 | 1, run_ns, delay_ns);
  };
  part.add(0, Kind::rank, rank_0, 0);
  part.add(0, Kind::call, rank_0, send_name);
  add_thread(0, 5 * ms, 1 * ms);
  part.add(10 * ms, Kind::result, rank_0);
  add_thread(10 * ms, 9 * ms, 7 * ms);
  part.add(20 * ms, Kind::end_then_idle, rank_0, send_name);
  part.add(30 * ms, Kind::clock, 30 * ms, 30 * ms);
  part.write(folder);
  PartFile second(1);
  second.add(0, Kind::rank, rank_1, 1);
  second.add(20 * ms, Kind::end_then_idle, rank_1, send_name);
  second.add(30 * ms, Kind::clock, 30 * ms, 30 * ms);
  second.write(folder);
  // One thread for both workers from 5 ms on.
  PartFile governor(trace::no_worker);
  governor.add(5 * ms, Kind::width, 1, 2);
  governor.add(30 * ms, Kind::clock, 30 * ms, 30 * ms);
  governor.write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  const ThreadUse& use = read.value().use;
  EXPECT_EQ(read.value().workers.size(), 2U);
  EXPECT_EQ(use.whole_ns(), 40'000'000);
  EXPECT_EQ(use.granted_ns, 25'000'000);
  EXPECT_EQ(use.core_ns, 4'000'000);
  EXPECT_EQ(use.core_wait_ns, 6'000'000);
  EXPECT_TRUE(use.are_taken());
  EXPECT_EQ(
      use.taken_text(),
      "threads were taken: the job had 1.2 of 2 threads on average, and they waited for cores "
      "15 % of the time; so times show the load of the machine, and no advice is given");
  EXPECT_NE(table_of(read.value(), 20).find("on a core 10.0 %, waiting for one 15.0 %"),
            std::string::npos)
      << table_of(read.value(), 20);
}

TEST_F(TraceProfileTest, SharesHaveTheirLeastAndMost) {
  // In 9 ms one worker computes 3 ms, the other one 6 ms.
  PartFile part;
  part.add(0, Kind::rank, rank_0, 0);
  part.add(0, Kind::yield, rank_0, send_name);
  part.add(3 * ms, Kind::wait_then_idle, rank_0, send_name);
  part.add(9 * ms, Kind::wake, rank_0, send_name);
  part.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  part.write(folder);
  PartFile second(1);
  second.add(0, Kind::rank, rank_1, 1);
  second.add(0, Kind::yield, rank_1, send_name);
  second.add(6 * ms, Kind::end_then_idle, rank_1, send_name);
  second.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  second.write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_NE(
      table_of(read.value(), 20)
          .find("compute 50 % (33 to 67 %), are in MPI 0 % (0 to 0 %), idle 50 % (33 to 67 %)"),
      std::string::npos)
      << table_of(read.value(), 20);
}

TEST_F(TraceProfileTest, IdleTimeIsNotHidden) {
  PartFile part;
  part.add(0, Kind::rank, rank_0, 0);
  part.add(1 * ms, Kind::call, rank_0, receive_name);
  part.add(2 * ms, Kind::wait_then_idle, rank_0, receive_name);
  part.add(3 * ms, Kind::park);
  part.add(6 * ms, Kind::wake, rank_0, receive_name);
  part.add(7 * ms, Kind::result, rank_0);
  part.add(20 * ms, Kind::clock, 20 * ms, 20 * ms);
  part.write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  // What precedes the first event, too.
  EXPECT_EQ(read.value().workers.at(0).idle_ns, 5'000'000);
  EXPECT_EQ(read.value().ranks.at(0).wait_ns, 4'000'000);
  EXPECT_EQ(read.value().ranks.at(0).hidden_ns, 0);
}

TEST_F(TraceProfileTest, ARankThatMovesKeepsItsCall) {
  RankThatMoves().write(folder);
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  const CallProfile& receive = read.value().calls.at({"MPI_Recv", "-"});
  EXPECT_EQ(receive.count, 1U);
  EXPECT_EQ(receive.ns, 4'000'000);
  EXPECT_EQ(receive.wait_ns, 2'000'000);
  EXPECT_EQ(read.value().ranks.at(0).compute_ns + read.value().ranks.at(0).transfer_ns, 4'000'000);
}

TEST_F(TraceProfileTest, APartThatIsCutIsReadUpToThere) {
  for (const std::size_t bytes_less : {std::size_t{1}, std::size_t{8}, std::size_t{33}}) {
    two_ranks().write(folder, bytes_less);
    const Result<Profile> read = read_profile(folder.string());
    ASSERT_TRUE(read.has_value()) << read.error();
    EXPECT_EQ(read.value().ranks.size(), 2U);
    EXPECT_EQ(read.value().calls.at({"MPI_Recv", "-"}).count, 1U);
  }
}

TEST_F(TraceProfileTest, OtherFilesAreLeftOutWithAWarning) {
  two_ranks().write(folder);
  std::ofstream(folder / "9-0.part") << "this is not a trace, but long enough to be a record";
  std::ofstream(folder / "9-1.part").flush();
  std::ofstream(folder / "notes.txt") << "mine";
  const Result<Profile> read = read_profile(folder.string());
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(read.value().ranks.size(), 2U);
  ASSERT_EQ(read.value().warnings.size(), 2U);
  EXPECT_NE(read.value().warnings[0].find("9-0.part is not a part of a trace"), std::string::npos);
  EXPECT_NE(read.value().warnings[1].find("9-1.part is empty"), std::string::npos);
}

TEST_F(TraceProfileTest, AFolderWithoutPartsIsAnError) {
  EXPECT_NE(read_profile(folder.string()).error().find("has no part of a trace"),
            std::string::npos);
  EXPECT_NE(read_profile((folder / "absent").string()).error().find("cannot be read"),
            std::string::npos);
}

TEST(MessageRecordTest, AllFieldsSurvive) {
  const MessageRecord message{.context = 0xfedcba98,
                              .tag = -7,
                              .source = 4095,
                              .rank = 999'999,
                              .destination = 999'998,
                              .bytes = (std::uint64_t{1} << 40) - 1};
  const MessageRecord read = MessageRecord::of(message.as(Kind::send));
  EXPECT_EQ(read.context, message.context);
  EXPECT_EQ(read.tag, message.tag);
  EXPECT_EQ(read.source, message.source);
  EXPECT_EQ(read.rank, message.rank);
  EXPECT_EQ(read.destination, message.destination);
  EXPECT_EQ(read.bytes, message.bytes);
}

}  // namespace
}  // namespace sorrel::tool
