//! Pace - how many iterations of a loop make a chunk worth taking, as its last chunks have shown.
//!
//! Taking a chunk costs some 0.1 to 0.3 us, a cache line's way from one core to another: loops of a
//! few microseconds want few chunks, long ones chunks as small as can be, so that all end together.
//! Kinds of loops are told apart by their bodies; two that fall together forget each other. Any
//! thread may call anything; estimates only, so that nothing depends on their order. Wait-free.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "loop/team/slot.hpp"

namespace sorrel::loop {

class Pace {
 public:
  /// What a chunk should take at least.
  static constexpr std::int64_t worth_ns = 750;

  explicit Pace(std::uint64_t worth_cycles) : worth_cycles_(worth_cycles) {}

  /// Iterations of `body` that are worth a chunk, at least 1; 0: it is not known.
  [[nodiscard]] std::int64_t worth(Body body) const {
    const Entry& entry = entries_[place_of(body)];
    // Relaxed, here and below: estimates; one that belongs to another body does no harm.
    return entry.body.load(std::memory_order_relaxed) == body
               ? entry.worth.load(std::memory_order_relaxed)
               : 0;
  }

  /// So many iterations, at least 1, have taken so long.
  void note(Body body, std::int64_t iterations, std::uint64_t cycles) {
    const double per_cycle =
        static_cast<double>(iterations) / static_cast<double>(std::max<std::uint64_t>(cycles, 1));
    const auto now = static_cast<std::int64_t>(
        std::clamp(per_cycle * static_cast<double>(worth_cycles_), 1.0, worth_max));
    Entry& entry = entries_[place_of(body)];
    if (entry.body.load(std::memory_order_relaxed) != body) {
      entry.body.store(body, std::memory_order_relaxed);
    } else if (is_close(entry.worth.load(std::memory_order_relaxed), now)) {
      // The line stays with all who read it.
      return;
    }
    entry.worth.store(now, std::memory_order_relaxed);
  }

 private:
  struct Entry {
    std::atomic<Body> body{nullptr};
    std::atomic<std::int64_t> worth{0};
  };

  static constexpr std::size_t entry_count = 64;
  static constexpr double worth_max = 0x1p40;

  static std::size_t place_of(Body body) {
    return reinterpret_cast<std::uintptr_t>(body) / 16 % entry_count;
  }

  static bool is_close(std::int64_t before, std::int64_t now) {
    return std::max(before, now) - std::min(before, now) <= before / 8;
  }

  alignas(cache_line_bytes) const std::uint64_t worth_cycles_;
  std::array<Entry, entry_count> entries_;
};

}  // namespace sorrel::loop
