//! GrainTuner - estimates from past chunks how many iterations of a loop a chunk should have.
//!
//! Taking a chunk costs some 0.1 to 0.3 us, the transfer of a cache line between cores. Loops of a
//! few microseconds need few chunks; long loops need chunks as small as possible, so that all
//! threads end together. Loops are distinguished by their bodies; two bodies in one entry replace
//! each other. Any thread may call anything; these are estimates, so nothing depends on their
//! order. Wait-free.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "loop/team/slot.hpp"

namespace sorrel::loop {

class GrainTuner {
 public:
  /// Minimum duration of a chunk.
  static constexpr std::int64_t chunk_ns_min = 750;

  explicit GrainTuner(std::uint64_t chunk_cycles_min) : chunk_cycles_min_(chunk_cycles_min) {}

  /// Iterations of `body` for one chunk, at least 1; 0: unknown.
  [[nodiscard]] std::int64_t tuned_grain(Body body) const {
    const Entry& entry = entries_[index_of(body)];
    // Relaxed, here and below: estimates; an estimate of another body does no harm.
    return entry.body.load(std::memory_order_relaxed) == body
               ? entry.tuned_grain.load(std::memory_order_relaxed)
               : 0;
  }

  /// Cycles of an iteration of `body` in its first loop, or the last one that began while helpers
  /// slept; at least 1; 0: unknown.
  [[nodiscard]] std::uint64_t cycles_each(Body body) const {
    const Entry& entry = entries_[index_of(body)];
    return entry.body.load(std::memory_order_relaxed) == body
               ? entry.cycles_each.load(std::memory_order_relaxed)
               : 0;
  }

  /// In such a loop, `iterations`, at least 1, have taken `cycles`.
  void record_cost(Body body, std::int64_t iterations, std::uint64_t cycles) {
    Entry& entry = entries_[index_of(body)];
    if (entry.body.load(std::memory_order_relaxed) != body) {
      entry.body.store(body, std::memory_order_relaxed);
      entry.tuned_grain.store(0, std::memory_order_relaxed);
    }
    entry.cycles_each.store(
        std::max<std::uint64_t>(cycles / static_cast<std::uint64_t>(iterations), 1),
        std::memory_order_relaxed);
  }

  /// `iterations`, at least 1, have taken `cycles`.
  void record(Body body, std::int64_t iterations, std::uint64_t cycles) {
    const double per_cycle =
        static_cast<double>(iterations) / static_cast<double>(std::max<std::uint64_t>(cycles, 1));
    const auto now = static_cast<std::int64_t>(
        std::clamp(per_cycle * static_cast<double>(chunk_cycles_min_), 1.0, grain_max));
    Entry& entry = entries_[index_of(body)];
    if (entry.body.load(std::memory_order_relaxed) != body) {
      entry.body.store(body, std::memory_order_relaxed);
      entry.cycles_each.store(0, std::memory_order_relaxed);
    } else if (is_close(entry.tuned_grain.load(std::memory_order_relaxed), now)) {
      // Without a store, the line stays in the caches of all readers.
      return;
    }
    entry.tuned_grain.store(now, std::memory_order_relaxed);
  }

 private:
  struct Entry {
    std::atomic<Body> body{nullptr};
    std::atomic<std::int64_t> tuned_grain{0};
    std::atomic<std::uint64_t> cycles_each{0};
  };

  static constexpr std::size_t entry_count = 64;
  static constexpr double grain_max = 0x1p40;

  static std::size_t index_of(Body body) {
    return reinterpret_cast<std::uintptr_t>(body) / 16 % entry_count;
  }

  static bool is_close(std::int64_t before, std::int64_t now) {
    return std::max(before, now) - std::min(before, now) <= before / 8;
  }

  alignas(cache_line_bytes) const std::uint64_t chunk_cycles_min_;
  std::array<Entry, entry_count> entries_;
};

}  // namespace sorrel::loop
