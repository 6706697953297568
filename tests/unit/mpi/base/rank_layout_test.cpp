#include "mpi/base/rank_layout.hpp"

#include <gtest/gtest.h>

namespace sorrel::mpi {
namespace {

TEST(RankLayout, PutsEveryRankIntoTheBlockOfItsPlace) {
  for (const std::int32_t ranks : {1, 2, 3, 7, 64, 257, 4096}) {
    for (const std::uint32_t processes : {1U, 2U, 3U, 8U}) {
      for (const std::uint32_t workers : {1U, 2U, 5U}) {
        const RankLayout layout(
            {.rank_count = ranks, .process_count = processes, .worker_count = workers});
        std::int32_t rank = 0;
        for (std::uint32_t p = 0; p < processes; ++p) {
          EXPECT_EQ(layout.first_rank_of_process(p), rank);
          for (std::uint32_t w = 0; w < workers; ++w) {
            const Endpoint place{.process = p, .worker = w};
            ASSERT_EQ(layout.first_rank(place), rank);
            for (; rank < layout.last_rank(place); ++rank)
              ASSERT_EQ(layout.endpoint_of(rank), place) << "rank " << rank;
          }
        }
        EXPECT_EQ(rank, ranks);
        EXPECT_EQ(layout.first_rank_of_process(processes), ranks);
      }
    }
  }
}

TEST(RankLayout, PutsRanksIntoTheProcessesThatTheCallerSays) {
  const std::vector<RankLayout::Block> blocks{{.rank_count = 1, .worker_count = 1},
                                              {.rank_count = 7, .worker_count = 3},
                                              {.rank_count = 2, .worker_count = 2}};
  const RankLayout layout({.rank_count = 10, .process_count = 3, .worker_count = 3}, blocks);
  EXPECT_EQ(layout.first_rank_of_process(1), 1);
  EXPECT_EQ(layout.first_rank_of_process(2), 8);
  EXPECT_EQ(layout.first_rank_of_process(3), 10);
  std::int32_t rank = 0;
  for (std::uint32_t process = 0; process < 3; ++process) {
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
      const Endpoint endpoint{.process = process, .worker = worker};
      EXPECT_EQ(layout.first_rank(endpoint), rank);
      if (worker >= blocks[process].worker_count) {
        EXPECT_EQ(layout.last_rank(endpoint), rank) << "a worker that does not exist";
      }
      for (; rank < layout.last_rank(endpoint); ++rank)
        EXPECT_EQ(layout.endpoint_of(rank), endpoint);
    }
  }
  EXPECT_EQ(rank, 10);
}

TEST(RankLayout, KeepsTheEndpointsOfRanksThatStayWhenBordersMove) {
  const RankLayout before({.rank_count = 24, .process_count = 3, .worker_count = 2});
  const std::vector<std::int32_t> begins{0, 3, 17};
  const RankLayout after = before.with_borders(begins);
  const RankLayout last = after.with_borders(std::vector<std::int32_t>{0, 18, 21});
  for (const RankLayout* layout : {&after, &last}) {
    std::int32_t rank = 0;
    for (std::uint32_t i = 0; i < layout->endpoint_count(); ++i) {
      const Endpoint endpoint{.process = i / 2, .worker = i % 2};
      ASSERT_EQ(layout->first_rank(endpoint), rank);
      for (; rank < layout->last_rank(endpoint); ++rank)
        ASSERT_EQ(layout->endpoint_of(rank), endpoint) << "rank " << rank;
    }
    EXPECT_EQ(rank, 24);
  }
  for (std::uint32_t process = 0; process < 3; ++process)
    EXPECT_EQ(after.first_rank_of_process(process), begins[process]);
  for (std::int32_t rank = 0; rank < 24; ++rank) {
    if (before.process_of(rank) == after.process_of(rank)) {
      EXPECT_EQ(before.endpoint_of(rank), after.endpoint_of(rank)) << "rank " << rank;
    }
  }
  // All ranks of the second process are others: an even block each worker.
  EXPECT_EQ(last.first_rank({.process = 1, .worker = 1}), 19);
}

TEST(RankLayout, NumbersOfSpawnedRanksSayWhereTheyLive) {
  const RankLayout layout({.rank_count = 7, .process_count = 3, .worker_count = 2});
  std::vector<std::int32_t> numbers;
  for (std::int32_t sequence = 0; sequence < 50; ++sequence) {
    for (std::uint32_t index = 0; index < layout.endpoint_count(); ++index) {
      const Endpoint endpoint{.process = index / 2, .worker = index % 2};
      numbers.push_back(layout.spawned_number(endpoint, sequence));
      EXPECT_GE(numbers.back(), layout.rank_count());
      EXPECT_EQ(layout.endpoint_of(numbers.back()), endpoint);
      EXPECT_EQ(layout.process_of(numbers.back()), endpoint.process);
    }
  }
  std::ranges::sort(numbers);
  EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
}

TEST(RankLayout, GivesBlocksThatDifferByAtMostOneRank) {
  const RankLayout layout({.rank_count = 100, .process_count = 3, .worker_count = 4});
  for (std::uint32_t i = 0; i < layout.endpoint_count(); ++i) {
    const Endpoint place{.process = i / 4, .worker = i % 4};
    const std::int32_t size = layout.last_rank(place) - layout.first_rank(place);
    EXPECT_TRUE(size == 8 || size == 9);
  }
}

}  // namespace
}  // namespace sorrel::mpi
