#include "report/wait_table.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "report/deadlock_report.hpp"
#include "report/wait_groups.hpp"

namespace sorrel::report {
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

TEST(WaitTableTest, MessagesThatNoReceiveMatchesTravelAndAreReported) {
  WaitTable table;
  table.add(
      "wait\t0\tMPI_Recv\tfrom 1\t7\thalo\tmain (a.c:1)\t1\t-\n"
      "unreceived\t0\t3\tfrom 1 with tag 8 (4 bytes, halo): it waits for tag 7\n");
  WaitTable again;
  again.add(table.text(100'000));
  const std::string report = deadlock_report(again, 1);
  EXPECT_NE(report.find(", and the 3 messages that have come match no receive\n"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("\nrank 0 does not receive 3 messages from 1 with tag 8 (4 bytes, halo): "
                        "it waits for tag 7\n"),
            std::string::npos)
      << report;
}

TEST(WaitTableTest, OfAPartOfTheRanksTheOthersAreLeftOut) {
  WaitTable table;
  table.add(two_in_a_barrier);
  table.add(
      "wait\t2\tMPI_Recv\tfrom 0\t9\thalo\tmain (a.c:1)\t0\t-\n"
      "unreceived\t1\t3\tfrom 2 with tag 8 (4 bytes, halo)\n");
  table.keep_only({{.rank = 0, .awaited = 2}, {.rank = 2, .awaited = 0}});
  EXPECT_EQ(table.wait_of(1), nullptr);
  const std::string report = deadlock_report(table, 4);
  EXPECT_EQ(report.find("sorrel: deadlock: 2 of 4 ranks wait, and no other rank can let them go"),
            0U)
      << report;
  EXPECT_NE(report.find("cycle: 0 waits for 2 waits for 0\n"), std::string::npos) << report;
  EXPECT_EQ(report.find("does not receive"), std::string::npos) << report;
}

TEST(WaitTableTest, TheFirstMemberThatIsNotThereIsTheOneAwaited) {
  WaitTable table;
  table.add(two_in_a_barrier);
  EXPECT_EQ(table.first_absent(5), 3);
  table.add_unknown(3, 4);
  EXPECT_EQ(table.first_absent(5), std::nullopt) << "the state of its members is unknown";
  EXPECT_EQ(table.first_absent(6), std::nullopt) << "no such communicator";
}

/// `count` ranks from 0 on wait in a barrier, but for `other`, which waits in MPI_Recv.
WaitTable all_but_one(std::int32_t count, std::int32_t other) {
  std::string text = text_of("members\t5\t0-%d,\n", count - 1);
  for (std::int32_t rank = 0; rank < count; ++rank) {
    text += rank == other ? text_of("wait\t%d\tMPI_Recv\tfrom 2\t9\thalo\t-\t2\t-\n", rank)
                          : text_of("wait\t%d\tMPI_Barrier\t-\t-\thalo\t-\t-\t5\n", rank);
  }
  WaitTable table;
  table.add(text);
  return table;
}

/// Each rank waits for the next.
WaitTable circle(std::int32_t count) {
  std::string text;
  for (std::int32_t rank = 0; rank < count; ++rank) {
    const std::int32_t next = (rank + 1) % count;
    text += text_of("wait\t%d\tMPI_Recv\tfrom %d +1 more\t7\thalo\t-\t%d\t-\n", rank, next, next);
  }
  WaitTable table;
  table.add(text);
  return table;
}

TEST(WaitTableTest, RanksThatWaitAlikeTravelTogether) {
  EXPECT_LT(all_but_one(1000, 700).text(100'000).size(), 300U);
  WaitTable again;
  again.add(all_but_one(1000, 700).text(300));
  EXPECT_EQ(again.waits().size(), 1000U);
  EXPECT_EQ(again.wait_of(700)->call, "MPI_Recv");
  EXPECT_EQ(again.wait_of(701)->collective, 5);
}

TEST(WaitTableTest, RanksThatDoNotFitAreUnknown) {
  const WaitTable table = circle(1000);
  const std::string part = table.text(10'000);
  EXPECT_LE(part.size(), 10'000U);
  EXPECT_EQ(part.back(), '\n');
  WaitTable again;
  again.add(part);
  EXPECT_GT(again.waits().size(), 100U);
  EXPECT_EQ(again.unknown_count(), 1000 - static_cast<std::int32_t>(again.waits().size()));
  EXPECT_EQ(deadlock_report(again, 1000).find("ended"), std::string::npos);
}

TEST(WaitTableTest, WhatManyDoIsLeftOutFirst) {
  WaitTable again;
  again.add(all_but_one(1000, 700).text(150));
  EXPECT_EQ(again.waits().size(), 1U);
  EXPECT_NE(again.wait_of(700), nullptr);
  EXPECT_EQ(again.unknown_count(), 999);
}

TEST(DeadlockReportTest, TheOneRankThatDiffersIsTheFirstRow) {
  const std::string report = deadlock_report(all_but_one(1000, 700), 1000);
  EXPECT_NE(report.find("\n                700  MPI_Recv "), std::string::npos) << report;
  EXPECT_NE(report.find("\n0-699,701-999 (999)  MPI_Barrier "), std::string::npos) << report;
  EXPECT_LT(report.find("MPI_Recv"), report.find("MPI_Barrier")) << report;
}

TEST(DeadlockReportTest, ManyRowsWithPeersAtOneDistanceAreOne) {
  const std::string report = deadlock_report(circle(1000), 1000);
  EXPECT_NE(report.find("\n0-999 (1000)  MPI_Recv           from rank+1 +1 more"),
            std::string::npos)
      << report;
  EXPECT_NE(report.find("\ncycle: 0 waits for 1 waits for 2 waits for 3 waits for 4 waits for 5 "
                        "waits for 6 waits for 7 waits for … 990 more … 998 waits for 999 waits "
                        "for 0\n"),
            std::string::npos)
      << report;
}

TEST(DeadlockReportTest, FewRowsKeepTheirPeers) {
  const std::string report = deadlock_report(circle(11), 11);
  EXPECT_NE(report.find("\n     3  MPI_Recv           from 4 +1 more"), std::string::npos)
      << report;
  EXPECT_NE(report.find(" waits for 9 waits for 10 waits for 0\n"), std::string::npos) << report;
}

TEST(DeadlockReportTest, OnlyRowsOfManyKindsAreLeftOut) {
  WaitTable table;
  for (std::int32_t rank = 0; rank < 100; ++rank) {
    const std::string line = std::to_string(rank < 50 ? rank : 50);
    table.add("wait\t" + std::to_string(rank) + "\tMPI_Recv\tfrom any\t1\thalo\tmain (a.c:" + line +
              ")\t-\t-\n");
  }
  const std::string report = deadlock_report(table, 100);
  EXPECT_NE(report.find("\n    39  MPI_Recv"), std::string::npos) << report;
  EXPECT_NE(report.find("… and 60 more ranks\n"), std::string::npos) << report;
}

TEST(DeadlockReportTest, TheOneRankThatDiffersIsSeenAmongTagsAndCommunicatorsOfTheirOwn) {
  WaitTable table;
  for (std::int32_t rank = 0; rank < 1000; ++rank) {
    const std::string own = std::to_string(rank);
    table.add(rank == 700 ? "wait\t700\tMPI_Barrier\t-\t-\thalo\t-\t-\t5\n"
                          : "wait\t" + own + "\tMPI_Recv\tfrom 0\t" + own + "\tcomm " + own +
                                "\t-\t0\t-\n");
  }
  const std::string report = deadlock_report(table, 1000);
  EXPECT_NE(report.find("\n                700  MPI_Barrier "), std::string::npos) << report;
  EXPECT_NE(
      report.find("\n0-699,701-999 (999)  MPI_Recv           various           various  various "),
      std::string::npos)
      << report;
}

TEST(DeadlockReportTest, TagsOfTheirOwnLeaveTheCommunicatorsNamed) {
  WaitTable table;
  for (std::int32_t rank = 0; rank < 100; ++rank) {
    const std::string own = std::to_string(rank);
    table.add("wait\t" + own + "\tMPI_Recv\tfrom any\t" + own + "\thalo\t-\t-\t-\n");
  }
  EXPECT_NE(deadlock_report(table, 100).find("from any          various  halo "), std::string::npos)
      << deadlock_report(table, 100);
}

TEST(WaitGroupsTest, RanksAreNamedInRuns) {
  EXPECT_EQ(text_of_ranks({7}, 4), "7");
  EXPECT_EQ(text_of_ranks({0, 1, 2, 5, 7, 8}, 4), "0-2,5,7-8 (6)");
  EXPECT_EQ(text_of_ranks({0, 2, 4, 6, 8}, 4), "0,2,4,6,… (5)");
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
  EXPECT_NE(report.find("2 of 4 ranks wait, the state of 2 is unknown"), std::string::npos)
      << report;
  EXPECT_EQ(report.find("has ended"), std::string::npos) << report;
}

}  // namespace
}  // namespace sorrel::report
