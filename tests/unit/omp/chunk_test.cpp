#include "omp/worksharing/chunk.hpp"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

#include "omp/tasking/taskloop.hpp"

namespace sorrel::omp {
namespace {

std::vector<int> hits_of(std::uint64_t trips, std::uint64_t chunk, std::uint32_t threads) {
  std::vector<int> hits(trips, 0);
  for (std::uint32_t thread = 0; thread < threads; ++thread) {
    for (std::uint64_t index = 0;; ++index) {
      const Chunk mine = fixed_chunk(trips, chunk, index, thread, threads);
      if (mine.empty()) break;
      for (std::uint64_t i = mine.begin; i < mine.end; ++i)
        ++hits[i];
    }
  }
  return hits;
}

TEST(Chunk, fixed_chunks_cover_every_iteration_once) {
  for (const std::uint64_t trips : {0, 1, 2, 7, 64, 1000}) {
    for (const std::uint64_t chunk : {0, 1, 3, 64, 5000}) {
      for (const std::uint32_t threads : {1, 2, 3, 16, 100})
        EXPECT_EQ(hits_of(trips, chunk, threads), std::vector<int>(trips, 1))
            << trips << " by " << chunk << " for " << threads;
    }
  }
}

TEST(Chunk, blocks_differ_by_at_most_one_and_the_first_are_larger) {
  EXPECT_EQ(fixed_chunk(10, 0, 0, 0, 4), (Chunk{0, 3}));
  EXPECT_EQ(fixed_chunk(10, 0, 0, 1, 4), (Chunk{3, 6}));
  EXPECT_EQ(fixed_chunk(10, 0, 0, 3, 4), (Chunk{8, 10}));
}

TEST(Chunk, a_huge_fixed_chunk_does_not_overflow) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(fixed_chunk(100, most, 0, 0, 2), (Chunk{0, 100}));
  EXPECT_TRUE(fixed_chunk(100, most, 0, 1, 2).empty());
}

TEST(Chunk, guided_chunks_shrink_to_the_grain_and_end) {
  std::uint64_t left = 1000;
  std::uint64_t last = left;
  while (left != 0) {
    const std::uint64_t size = guided_size(left, 4, 3);
    ASSERT_GE(size, std::min<std::uint64_t>(left, 4));
    ASSERT_LE(size, last);
    last = size;
    left -= size;
  }
}

TEST(Chunk, trips_are_counted_up_down_and_at_the_edges) {
  EXPECT_EQ(trip_count(0, 10, 3), 4U);
  EXPECT_EQ(trip_count(10, 0, -3), 4U);
  EXPECT_EQ(trip_count(5, 5, 1), 0U);
  EXPECT_EQ(trip_count(6, 5, 1), 0U);
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(trip_count(least, most, 1), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(trip_count(most, least, least), 2U);
  EXPECT_EQ(trip_count_unsigned(true, 0, 10, 3), 4U);
  EXPECT_EQ(trip_count_unsigned(false, 10, 0, 0 - std::uint64_t{3}), 4U);
}

TEST(Taskloop, is_cut_by_grain_or_by_number) {
  EXPECT_EQ(cut_taskloop(100, 0, Grain::task_count, 4), (TaskloopCut{4, 25, 0}));
  EXPECT_EQ(cut_taskloop(100, 7, Grain::task_count, 4), (TaskloopCut{7, 14, 2}));
  EXPECT_EQ(cut_taskloop(3, 7, Grain::task_count, 4), (TaskloopCut{3, 1, 0}));
  EXPECT_EQ(cut_taskloop(0, 7, Grain::task_count, 4), TaskloopCut{});
  // From the grain to less than twice the grain.
  for (std::uint64_t trips = 1; trips < 300; ++trips) {
    const TaskloopCut cut = cut_taskloop(trips, 13, Grain::least, 4);
    EXPECT_EQ(cut.task_count * cut.size + cut.larger_count, trips);
    EXPECT_GE(cut.size, std::min<std::uint64_t>(trips, 13));
    EXPECT_LT(cut.size + (cut.larger_count != 0 ? 1 : 0), 26U);
  }
}

TEST(Taskloop, AnExactGrainIsThatOfEveryTaskButTheLast) {
  EXPECT_EQ(cut_taskloop(30, 7, Grain::exact, 4), (TaskloopCut{5, 7, 0}));
  EXPECT_EQ(cut_taskloop(30, 10, Grain::exact, 4), (TaskloopCut{3, 10, 0}));
  EXPECT_EQ(cut_taskloop(30, 50, Grain::exact, 4), (TaskloopCut{1, 50, 0}));
  EXPECT_EQ(cut_taskloop(0, 7, Grain::exact, 4), TaskloopCut{});
}

}  // namespace
}  // namespace sorrel::omp
