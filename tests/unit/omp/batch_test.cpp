#include "omp/kernel/batch.hpp"

#include <gtest/gtest.h>

namespace sorrel::omp {
namespace {

constexpr std::uint64_t loop = 300;

std::uint64_t no_clock() {
  ADD_FAILURE() << "the clock was read";
  return 0;
}

TEST(Batch, gives_its_chunks_in_order) {
  Batch batch;
  std::uint64_t chunk = 0;
  EXPECT_FALSE(batch.take(chunk));
  batch.fill(loop, {5, 8});
  for (const std::uint64_t expected : {5, 6, 7}) {
    EXPECT_TRUE(batch.take(chunk));
    EXPECT_EQ(chunk, expected);
  }
  EXPECT_FALSE(batch.take(chunk));
  EXPECT_TRUE(batch.is_empty());
}

TEST(Batch, a_thief_takes_the_last_half) {
  Batch batch;
  batch.fill(loop, {10, 15});
  const ChunkRange loot = batch.steal(loop);
  EXPECT_EQ(loot.begin, 12U);
  EXPECT_EQ(loot.end, 15U);
  std::uint64_t chunk = 0;
  EXPECT_TRUE(batch.take(chunk) && chunk == 10);
  EXPECT_TRUE(batch.take(chunk) && chunk == 11);
  EXPECT_FALSE(batch.take(chunk));
}

TEST(Batch, a_thief_takes_the_last_chunk_too) {
  Batch batch;
  batch.fill(loop, {3, 4});
  EXPECT_EQ(batch.steal(loop).begin, 3U);
  EXPECT_TRUE(batch.steal(loop).empty());
}

TEST(Batch, a_thief_of_another_loop_takes_nothing) {
  Batch batch;
  batch.fill(loop, {0, 9});
  EXPECT_TRUE(batch.steal(loop + 1).empty());
  EXPECT_FALSE(batch.steal(loop).empty());
}

TEST(Batch, what_is_forgotten_is_not_run) {
  Batch batch;
  batch.fill(loop, {0, 9});
  batch.forget();
  std::uint64_t chunk = 0;
  EXPECT_FALSE(batch.take(chunk));
}

TEST(Batch, holds_the_last_numbers_there_are) {
  Batch batch;
  batch.fill(loop, {Batch::chunk_count_max - 1, Batch::chunk_count_max});
  std::uint64_t chunk = 0;
  EXPECT_TRUE(batch.take(chunk));
  EXPECT_EQ(chunk, Batch::chunk_count_max - 1);
  EXPECT_FALSE(batch.take(chunk));
}

TEST(BatchTuner, a_short_loop_takes_singles_without_a_clock) {
  BatchTuner batch_tuner;
  for (int i = 0; i < 7; ++i)
    EXPECT_EQ(batch_tuner.next(1000, 2, no_clock), 1U);
}

TEST(BatchTuner, short_chunks_come_in_large_batches) {
  BatchTuner batch_tuner;
  std::uint64_t now = 1;
  std::uint64_t size = 0;
  for (int i = 0; i < 24; ++i)
    size = batch_tuner.next(1'000'000, 2, [&] { return now += 800; });
  EXPECT_EQ(size, BatchTuner::size_max);
}

TEST(BatchTuner, long_chunks_come_one_by_one) {
  BatchTuner batch_tuner;
  std::uint64_t now = 1;
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(batch_tuner.next(1'000'000, 2, [&] { return now += 800'000; }), 1U);
}

TEST(BatchTuner, chunks_that_grow_long_end_the_batches) {
  BatchTuner batch_tuner;
  std::uint64_t now = 1;
  for (int i = 0; i < 24; ++i)
    (void)batch_tuner.next(1'000'000, 2, [&] { return now += 800; });
  EXPECT_EQ(batch_tuner.next(1'000'000, 2, [&] { return now += 64 * 100'000; }), 1U);
}

TEST(BatchTuner, the_last_chunks_are_shared_evenly) {
  BatchTuner batch_tuner;
  std::uint64_t now = 1;
  for (int i = 0; i < 24; ++i)
    (void)batch_tuner.next(1'000'000, 2, [&] { return now += 800; });
  EXPECT_EQ(batch_tuner.next(80, 2, [&] { return now += 800; }), 40U);
  EXPECT_EQ(batch_tuner.next(7, 2, [&] { return now += 800; }), 3U);
}

}  // namespace
}  // namespace sorrel::omp
