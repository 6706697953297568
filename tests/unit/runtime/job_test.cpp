#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "unit/runtime/rank_run.hpp"

namespace sorrel::runtime {
namespace {

using test::Shape;

TEST(Job, RunsEveryRankOnceWithItsNumber) {
  for (const Shape shape : {Shape{1, 1}, Shape{7, 1}, Shape{7, 3}, Shape{300, 2}}) {
    std::vector<std::atomic<int>> seen(static_cast<std::size_t>(shape.ranks));
    EXPECT_EQ(run_embedded(test::config_of(shape),
                           [&](int rank) {
                             // Relaxed: only counted.
                             seen[static_cast<std::size_t>(rank)].fetch_add(
                                 1, std::memory_order_relaxed);
                             return 0;
                           }),
              0);
    for (const auto& count : seen)
      EXPECT_EQ(count.load(std::memory_order_relaxed), 1);
  }
}

TEST(Job, EndsWithTheWorstStatus) {
  EXPECT_EQ(
      run_embedded(test::config_of({9, 2}), [](int rank) { return rank == 4 ? 7 : rank % 3; }), 7);
}

TEST(Job, CanFollowAnother) {
  for (int round = 0; round < 20; ++round) {
    EXPECT_EQ(test::run_ranks({4, 2}, [](int) { MPI_Barrier(MPI_COMM_WORLD); }), 0);
  }
}

TEST(Job, RanksDoNotSeeEachOthersErrno) {
  test::run_ranks({6, 2}, [](int rank) {
    for (int round = 0; round < 50; ++round) {
      errno = rank + 1;
      MPI_Barrier(MPI_COMM_WORLD);
      EXPECT_EQ(errno, rank + 1);
    }
  });
}

TEST(Job, ExceptionsStayWithTheirRank) {
  test::run_ranks({6, 2}, [](int rank) {
    for (int round = 0; round < 20; ++round) {
      try {
        throw std::runtime_error(std::to_string(rank));
      } catch (const std::runtime_error& error) {
        // Other ranks throw and catch meanwhile.
        MPI_Barrier(MPI_COMM_WORLD);
        try {
          throw;
        } catch (const std::runtime_error& again) {
          EXPECT_EQ(std::string(again.what()), std::to_string(rank));
          EXPECT_EQ(&again, &error);
        }
      }
      EXPECT_EQ(std::uncaught_exceptions(), 0);
    }
  });
}

TEST(JobDeathTest, ReportsACycleOfReceives) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const int workers : {1, 2}) {
    EXPECT_EXIT(test::run_ranks({4, workers},
                                [](int rank) {
                                  int value = 0;
                                  MPI_Recv(&value, 1, MPI_INT, (rank + 1) % 4, 11, MPI_COMM_WORLD,
                                           MPI_STATUS_IGNORE);
                                }),
                testing::ExitedWithCode(3),
                "deadlock: 4 of 4 ranks wait.*MPI_Recv *from 1 *11 .*0 waits for 1 waits for 2 "
                "waits for 3 waits for 0");
  }
}

TEST(JobDeathTest, ReportsAnEndedRankThatOthersWaitFor) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_embedded(test::config_of({3, 2}),
                           [](int rank) {
                             if (rank == 1) return 0;
                             MPI_Init(nullptr, nullptr);
                             MPI_Barrier(MPI_COMM_WORLD);
                             return 0;
                           }),
              testing::ExitedWithCode(3), "rank 1 has ended, and rank 0 waits for it");
}

TEST(JobDeathTest, RefusesARankThatLeavesWithoutFinalize) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_embedded(test::config_of({2, 2}),
                           [](int rank) {
                             MPI_Init(nullptr, nullptr);
                             if (rank == 1) return 5;
                             MPI_Barrier(MPI_COMM_WORLD);
                             return 0;
                           }),
              testing::ExitedWithCode(5),
              "rank 1: ended with status 5 without calling MPI_Finalize");
}

TEST(JobDeathTest, AbortEndsEverybodyWithItsCode) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(test::run_ranks({8, 2},
                              [](int rank) {
                                if (rank == 5) MPI_Abort(MPI_COMM_WORLD, 42);
                                MPI_Barrier(MPI_COMM_WORLD);
                              }),
              testing::ExitedWithCode(42), "rank 5: called MPI_Abort with code 42");
}

TEST(JobDeathTest, AnErrorEndsTheJobAndNamesItsClass) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      test::run_ranks({2, 2}, [](int) { MPI_Send(nullptr, 0, MPI_INT, 99, 0, MPI_COMM_WORLD); }),
      testing::ExitedWithCode(MPI_ERR_RANK),
      "MPI_Send: MPI_ERR_RANK: .*destination is 99; it must be in 0..1");
}

}  // namespace
}  // namespace sorrel::runtime
