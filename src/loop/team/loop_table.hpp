//! LoopTable - the slots of a process, in which callers open loops and helpers find them.
//!
//! A caller takes a slot for the duration of one loop, the first free one from its own start index;
//! nested loops and fibers that share a thread take the next ones. If no slot is free, the caller
//! runs its loop alone, or not at all (Work::is_shared_only). Any thread may call anything.
//! Progress: acquire() and release() wait-free. Limit: slot_count_max loops open at a time.
//! Ordering label: (B) the flag of a slot.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "loop/team/slot.hpp"

namespace sorrel::loop {

/// A slot, and its caller's data beside it.
class OpenLoop : public BasicSlot<core::StdSync> {
 public:
  /// The first value other than go_on that a body has returned.
  void set_outcome(int outcome) {
    int none = go_on;
    // Relaxed: read by the caller after the end of the loop, which is ordered by (L) and (E).
    outcome_.compare_exchange_strong(none, outcome, std::memory_order_relaxed);
    cancel();
  }

  /// The caller, when the loop is over: returns and clears the result of set_outcome().
  int take_outcome() {
    // Relaxed, as above.
    const int outcome = outcome_.load(std::memory_order_relaxed);
    if (outcome != go_on) outcome_.store(go_on, std::memory_order_relaxed);
    return outcome;
  }

  /// A caller on an OS thread sleeps on this.
  std::atomic<std::uint32_t>& end_signal() { return end_signal_; }

 private:
  friend class LoopTable;

  std::atomic<int> outcome_{go_on};
  std::atomic<std::uint32_t> end_signal_{0};
  std::atomic<bool> is_taken_{false};
};

class LoopTable {
 public:
  static constexpr std::uint32_t slot_count_max = 256;

  /// A slot for one loop, at index `start` or after it; null when none is free.
  OpenLoop* acquire(std::uint32_t start) {
    for (std::uint32_t i = 0; i < slot_count_max; ++i) {
      const std::uint32_t index = (start + i) % slot_count_max;
      OpenLoop& loop = loops_[index];
      // (B) acquire, pairs with release(): the last caller's accesses to the slot are done.
      if (loop.is_taken_.load(std::memory_order_relaxed) ||
          loop.is_taken_.exchange(true, std::memory_order_acquire))
        continue;
      if (index >= used_count_.load(std::memory_order_relaxed)) [[unlikely]]
        record_use(index);
      return &loop;
    }
    return nullptr;
  }

  static void release(OpenLoop& loop) {
    // (B) release, pairs with acquire().
    loop.is_taken_.store(false, std::memory_order_release);
  }

  /// Slots from here on have never been taken.
  [[nodiscard]] std::uint32_t used_count() const {
    // Relaxed: a bound for searches; a slot missed now is found the next time.
    return used_count_.load(std::memory_order_relaxed);
  }

  OpenLoop& operator[](std::uint32_t index) { return loops_[index]; }

 private:
  void record_use(std::uint32_t index) {
    // Relaxed: see used_count().
    std::uint32_t count = used_count_.load(std::memory_order_relaxed);
    while (count <= index &&
           !used_count_.compare_exchange_weak(count, index + 1, std::memory_order_relaxed)) {
    }
  }

  std::array<OpenLoop, slot_count_max> loops_;
  alignas(cache_line_bytes) std::atomic<std::uint32_t> used_count_{0};
};

/// Finds an open loop for a helper: the slot it used last, and now and then all others.
class LoopFinder {
 public:
  explicit LoopFinder(LoopTable& table) : table_(table) {}

  /// One poll: a loop to join, or null. Never joins.
  OpenLoop* poll() {
    OpenLoop& loop = table_[current_];
    const auto word = loop.poll();
    if (word.is_joinable()) {
      // A loop that is over by the second poll would have ended before the helper did any work, and
      // joining would have cost its caller time. After a long loop the next is expected to be long.
      if (expects_long_ || word.epoch() == last_epoch_) return &loop;
      last_epoch_ = word.epoch();
      return nullptr;
    }
    last_epoch_ = none;
    if (++round_ % polls_per_round == 0) advance();
    return nullptr;
  }

  /// The duration of the last loop that was joined.
  void record_help(std::uint64_t cycles) { expects_long_ = cycles > long_cycles; }

  /// The first joinable loop in any slot, without a second poll.
  OpenLoop* find_any() {
    for (std::uint32_t i = 0; i < table_.used_count(); ++i) {
      if (table_[i].poll().is_joinable()) {
        current_ = i;
        return &table_[i];
      }
    }
    return nullptr;
  }

 private:
  /// About a microsecond: many times the cost of joining.
  static constexpr std::uint64_t long_cycles = 3000;
  static constexpr std::uint32_t polls_per_round = 4;
  static constexpr std::uint32_t none = ~0U;

  /// Moves on to the next joinable loop, if there is one.
  void advance() {
    const std::uint32_t count = table_.used_count();
    for (std::uint32_t i = 1; i < count; ++i) {
      const std::uint32_t index = (current_ + i) % count;
      if (table_[index].poll().is_joinable()) {
        current_ = index;
        return;
      }
    }
  }

  LoopTable& table_;
  std::uint32_t current_ = 0;
  std::uint32_t last_epoch_ = none;
  bool expects_long_ = false;
  std::uint32_t round_ = 0;
};

}  // namespace sorrel::loop
