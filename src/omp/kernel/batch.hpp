//! Batch - chunks of a dynamic loop that a thread has taken off the loop's counter at once. The
//! owner takes them one by one; thieves may take half of the rest.
//!
//! One word holds loop, first and end, so a chunk belongs to the thread that changes the word: the
//! owner increments `first`, a thief lowers `end` by compare-and-swap. A word describes its batch
//! completely, so a return to an older value (ABA) does no harm. Chunks carry only their numbers:
//! every order is relaxed. fill(), take(), forget(): the owner; steal(): any thread. Wait-free,
//! except steal(), which is lock-free.
//!
//! BatchTuner - how many chunks the next batch has: one while chunks are long, because batches
//! change their order; more where the counter would be most of the work.
#pragma once

#include <algorithm>
#include <cstdint>

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "core/sync.hpp"

namespace sorrel::omp {

/// Chunks [begin, end) by their numbers.
struct ChunkRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool empty() const { return begin >= end; }
};

template <class Sync>
class BasicBatch {
 public:
  /// A loop of more chunks has no batches.
  static constexpr std::uint64_t chunk_count_max = (std::uint64_t{1} << 28) - 2;

  /// `loop` identifies the loop of the owner and of a thief: its low 8 bits count.
  void fill(std::uint64_t loop, ChunkRange chunks) {
    SORREL_ASSERT(is_empty() && chunks.end <= chunk_count_max);
    word_.store(loop << loop_shift | chunks.end << end_shift | chunks.begin, relaxed);
  }

  /// False if there is no chunk left; else the number of the owner's next chunk.
  bool take(std::uint64_t& chunk) {
    // Checked first, so that a loop that never had a batch needs no exchange.
    if (range_of(word_.load(relaxed)).empty()) return false;
    const ChunkRange range = range_of(word_.fetch_add(1, relaxed));
    chunk = range.begin;
    return !range.empty();
  }

  /// Takes the last half of the rest, if the owner is in that loop.
  ChunkRange steal(std::uint64_t loop) {
    std::uint64_t word = word_.load(relaxed);
    for (;;) {
      const ChunkRange range = range_of(word);
      if (range.empty() || word >> loop_shift != (loop & loop_mask)) return {};
      const std::uint64_t count = (range.end - range.begin + 1) / 2;
      if (word_.compare_exchange(word, word - (count << end_shift), relaxed))
        return {range.end - count, range.end};
    }
  }

  /// The rest is not to be run: the loop was cancelled.
  void forget() { word_.store(0, relaxed); }

  [[nodiscard]] bool is_empty() const { return range_of(word_.load(relaxed)).empty(); }

 private:
  static constexpr core::Order relaxed = core::Order::relaxed;
  // first: bits 0-27, end: 28-55, loop: 56-63. `first` passes `end` by at most one, when a thief
  // was faster than the owner.
  static constexpr unsigned end_shift = 28;
  static constexpr unsigned loop_shift = 56;
  static constexpr std::uint64_t number_mask = (std::uint64_t{1} << 28) - 1;
  static constexpr std::uint64_t loop_mask = 0xFF;

  static ChunkRange range_of(std::uint64_t word) {
    return {word & number_mask, word >> end_shift & number_mask};
  }

  typename Sync::template Atomic<std::uint64_t> word_;
};

using Batch = BasicBatch<core::StdSync>;

class BatchTuner {
 public:
  static constexpr std::uint32_t size_max = 64;

  /// The size of the next batch when `left` chunks are left to `thread_count` threads; `now`
  /// returns a time in cycles and is called rarely.
  template <class Clock>
  std::uint64_t next(std::uint64_t left, std::uint32_t thread_count, Clock now) {
    if (taken_ >= chunks_per_reading_) read(now());
    const std::uint64_t fair = std::max<std::uint64_t>(left / thread_count, 1);
    const std::uint64_t size = std::min<std::uint64_t>(size_, fair);
    taken_ += size;
    return size;
  }

 private:
  /// Intended duration of a batch, if its chunks take as long as the last ones.
  static constexpr std::uint64_t batch_cycles = 10'000;
  static constexpr std::uint32_t chunks_per_reading_min = 8;

  void read(std::uint64_t now) {
    if (began_ != 0) {
      const std::uint64_t each = std::max<std::uint64_t>((now - began_) / taken_, 1);
      size_ = static_cast<std::uint32_t>(
          std::clamp<std::uint64_t>(batch_cycles / each, 1, std::uint64_t{size_max}));
    }
    began_ = now;
    taken_ = 0;
    chunks_per_reading_ = std::max(size_, chunks_per_reading_min);
  }

  std::uint32_t size_ = 1;
  std::uint32_t chunks_per_reading_ = chunks_per_reading_min;
  std::uint64_t began_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace sorrel::omp
