//! SeededOrder - a schedule and a clock that are functions of a number, so that a failure replays.
//!
//! For a process with one worker, where nothing else decides the order. It draws which ready fiber
//! runs next. Time is virtual: it advances a little with each reading, so that polling loops
//! progress, and jumps to the next timer when no fiber is ready. The worker's thread only.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/prng.hpp"
#include "core/fiber.hpp"

namespace sorrel::core {

class SeededOrder {
 public:
  explicit SeededOrder(std::uint64_t seed) : prng_(seed) {}

  /// Moves one of the ready fibers, each with the same probability, to the front. O(ready fibers).
  void choose(FiberQueue& ready) {
    Fiber* before_chosen = nullptr;
    std::uint64_t count = 0;
    Fiber* before = nullptr;
    for (Fiber* fiber = ready.first(); fiber != nullptr;
         before = fiber, fiber = fiber->next_ready) {
      // Reservoir sampling: the n-th fiber replaces the present choice with probability 1/n.
      if (prng_.below(++count) == 0) before_chosen = before;
    }
    if (before_chosen != nullptr) ready.rotate_behind(*before_chosen);
  }

  [[nodiscard]] std::int64_t now_ns() { return now_ns_ += ns_per_reading; }

  void jump_to(std::int64_t due_ns) { now_ns_ = std::max(now_ns_, due_ns); }

 private:
  static constexpr std::int64_t ns_per_reading = 100;

  Prng prng_;
  std::int64_t now_ns_ = 0;
};

}  // namespace sorrel::core
