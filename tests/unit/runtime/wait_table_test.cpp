#include "runtime/wait_table.hpp"

#include <gtest/gtest.h>

#include "runtime/deadlock_report.hpp"

namespace sorrel::runtime {
namespace {

constexpr const char* two_in_a_barrier =
    "members\t5\t0-1,3-3,\n"
    "wait\t0\tMPI_Barrier\t-\t-\thalo\tmain (a.c:3)\t-\t5\n"
    "wait\t1\tMPI_Barrier\t-\t-\thalo\tmain (a.c:3)\t-\t5\n";

TEST(WaitTableTest, WhatOneProcessWritesAnotherReads) {
  WaitTable table;
  table.add("wait\t7\tMPI_Recv\tfrom 2\t9\tMPI_COMM_WORLD\tmain (a.c:1)\t2\t-\n");
  table.add(two_in_a_barrier);
  ASSERT_EQ(table.waits().size(), 3U);
  EXPECT_EQ(table.waits()[0].rank, 0) << "in order";
  const RankWait* seven = table.wait_of(7);
  ASSERT_NE(seven, nullptr);
  EXPECT_EQ(seven->call, "MPI_Recv");
  EXPECT_EQ(seven->peer, "from 2");
  EXPECT_EQ(seven->awaited, 2);
  EXPECT_FALSE(seven->collective);
  EXPECT_EQ(table.wait_of(6), nullptr);

  WaitTable again;
  again.add(table.text(100'000));
  EXPECT_EQ(again.text(100'000), table.text(100'000));
}

TEST(WaitTableTest, ARanksOwnWordsTravelAndAreReported) {
  WaitTable table;
  table.add("wait\t0\tMPI_Waitsome\tfrom 1\t10\thalo\tmain (a.c:1)\t1\t-\tgraph: use(0)\n");
  EXPECT_EQ(table.wait_of(0)->explanation, "graph: use(0)");
  WaitTable again;
  again.add(table.text(100'000));
  EXPECT_EQ(again.wait_of(0)->explanation, "graph: use(0)");
  EXPECT_NE(deadlock_report(again, 2).find("\n        graph: use(0)\n"), std::string::npos);
}

TEST(WaitTableTest, TheFirstMemberThatIsNotThereIsTheOneAwaited) {
  WaitTable table;
  table.add(two_in_a_barrier);
  EXPECT_EQ(table.first_absent(5), 3);
  table.add_unknown(3, 4);
  EXPECT_EQ(table.first_absent(5), std::nullopt) << "nothing is known of it";
  EXPECT_EQ(table.first_absent(6), std::nullopt) << "no such communicator";
}

TEST(WaitTableTest, WhatDoesNotFitIsLeftOutByWholeLines) {
  WaitTable table;
  table.add(two_in_a_barrier);
  const std::string whole = table.text(100'000);
  const std::string part = table.text(whole.size() - 1);
  EXPECT_EQ(part.back(), '\n');
  WaitTable again;
  again.add(part);
  EXPECT_EQ(again.waits().size(), 1U);
}

TEST(DeadlockReportTest, TheTrailEndsAtARankThatHasEnded) {
  WaitTable table;
  table.add(two_in_a_barrier);
  const std::string report = deadlock_report(table, 4);
  EXPECT_NE(report.find("2 of 4 ranks wait, the others have ended"), std::string::npos) << report;
  EXPECT_NE(report.find("rank 3 has ended, and rank 0 waits for it\n"), std::string::npos)
      << report;
}

TEST(DeadlockReportTest, SaysOfHowManyRanksNothingIsKnown) {
  WaitTable table;
  table.add(two_in_a_barrier);
  table.add_unknown(2, 4);
  const std::string report = deadlock_report(table, 4);
  EXPECT_NE(report.find("2 of 4 ranks wait, of 2 nothing is known"), std::string::npos) << report;
  EXPECT_EQ(report.find("has ended"), std::string::npos) << report;
}

}  // namespace
}  // namespace sorrel::runtime
