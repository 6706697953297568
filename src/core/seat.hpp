//! Seat - the lock of a worker whose place other threads of the program may take for a call.
//!
//! A word to sleep on: the kind of its holder, and whether threads sleep for it. A thread that
//! releases it may take it again before a woken waiter runs; the worker lets waiters go first
//! (take_after_waiters). Ordering labels: (K) take, (R) give.
#pragma once

#include <atomic>
#include <cstdint>

#include "os/futex.hpp"
#include "os/thread.hpp"

namespace sorrel::core {

class Seat {
 public:
  enum Holder : std::uint32_t { none = 0, worker = 1, guest = 2 };

  /// Any thread: true if the caller holds it now.
  bool try_take(Holder holder) {
    std::uint32_t free = none;
    // (K) acquire, pairs with (R): the caller sees the worker as the last holder left it.
    return word_.compare_exchange_strong(free, holder, std::memory_order_acquire,
                                         std::memory_order_relaxed);
  }

  /// Any thread: sleeps until the caller holds it. `before_sleep(holder)` is called before each
  /// sleep, which lasts at most `sleep_ns` (negative: no limit).
  template <class BeforeSleep>
  void take(Holder holder, std::int64_t sleep_ns, BeforeSleep&& before_sleep) {
    if (try_take(holder)) return;
    // Relaxed: a hint for take_after_waiters().
    waiting_count_.fetch_add(1, std::memory_order_relaxed);
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      if ((seen & holder_bits) == none) {
        // With the bit, as others may sleep. (K) as above.
        if (word_.compare_exchange_weak(seen, holder | has_sleepers, std::memory_order_acquire,
                                        std::memory_order_relaxed))
          break;
        continue;
      }
      if ((seen & has_sleepers) == 0 &&
          !word_.compare_exchange_weak(seen, seen | has_sleepers, std::memory_order_relaxed))
        continue;
      before_sleep(static_cast<Holder>(seen & holder_bits));
      os::futex_wait(word_, (seen & holder_bits) | has_sleepers, sleep_ns);
      seen = word_.load(std::memory_order_relaxed);
    }
    waiting_count_.fetch_sub(1, std::memory_order_relaxed);
  }

  void take(Holder holder) {
    take(holder, -1, [](Holder) {});
  }

  /// As take(); but threads that wait for it get some time to be first.
  void take_after_waiters(Holder holder) {
    constexpr int yields_max = 64;
    for (int i = 0; i < yields_max && waiting_count_.load(std::memory_order_relaxed) != 0 &&
                    word_.load(std::memory_order_relaxed) == none;
         ++i)
      os::yield_core();
    take(holder);
  }

  /// The holder: releases it.
  void give() {
    // (R) release, pairs with (K).
    if ((word_.exchange(none, std::memory_order_release) & has_sleepers) != 0)
      os::futex_wake_one(word_);
  }

  /// Any thread, a hint: whether a thread waits for it.
  [[nodiscard]] bool has_waiters() const {
    return waiting_count_.load(std::memory_order_relaxed) != 0;
  }

 private:
  static constexpr std::uint32_t holder_bits = 3;
  static constexpr std::uint32_t has_sleepers = 4;

  std::atomic<std::uint32_t> word_{none};
  std::atomic<std::uint32_t> waiting_count_{0};
};

}  // namespace sorrel::core
