#include "report/activity_table.hpp"

#include <gtest/gtest.h>

#include "base/text.hpp"

namespace sorrel::report {
namespace {

/// Half of the ranks run, each on a worker of its own; the others wait.
WaitTable half_running(std::int32_t count) {
  WaitTable table;
  for (std::int32_t rank = 0; rank < count; ++rank) {
    table.add(
        rank < count / 2
            ? text_of("rank\t%d\truns on worker %d\t-\t-\t-\t-\tmain (a.c:1)\t-\t-\n", rank, rank)
            : text_of("rank\t%d\twaits\tMPI_Barrier\t-\t-\thalo\tmain (a.c:2)\t-\t5\n", rank));
  }
  return table;
}

TEST(ActivityTableTest, CountsTheRanksInEachStateAndGroupsThem) {
  WaitTable table = half_running(4);
  table.add_unknown(4, 6);
  const std::string text = activity_table(table, "6 ranks", 6);
  EXPECT_TRUE(text.starts_with("sorrel: 6 ranks: 2 running, 2 waiting, 2 not known\n")) << text;
  EXPECT_NE(text.find("\n      1  runs on worker 1  -  "), std::string::npos) << text;
  EXPECT_NE(text.find("\n2-3 (2)  waits             MPI_Barrier "), std::string::npos) << text;
}

TEST(ActivityTableTest, WorkersAreLeftOutFirstWhereRowsAreMany) {
  const std::string text = activity_table(half_running(200), "200 ranks", 200);
  EXPECT_NE(text.find("0-99 (100)  runs   - "), std::string::npos) << text;
  EXPECT_NE(text.find("100-199 (100)  waits  MPI_Barrier "), std::string::npos) << text;
}

TEST(ActivityTableTest, StatesTravelBetweenProcesses) {
  WaitTable again;
  again.add(half_running(4).text(100'000));
  EXPECT_EQ(again.text(100'000), half_running(4).text(100'000));
  EXPECT_EQ(again.wait_of(1)->state, "runs on worker 1");
  EXPECT_EQ(again.wait_of(3)->collective, 5);
}

}  // namespace
}  // namespace sorrel::report
