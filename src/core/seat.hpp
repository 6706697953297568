//! Seat - the lock of a worker whose place other threads of the program may take for a call.
//!
//! A word to sleep on: the kind of its holder, and whether threads sleep for it. A thread that
//! releases it may take it again before a woken waiter runs; the worker lets waiters go first
//! (take_after_waiters). Ordering labels: (K) take, (R) give. Source: the mutex of Drepper 2011.
#pragma once

#include <cstdint>

#include "core/sync.hpp"
#include "os/futex.hpp"
#include "os/thread.hpp"

namespace sorrel::core {

/// How threads sleep on the word of a seat.
struct SeatFutex {
  using Word = StdSync::Atomic<std::uint32_t>;

  static void wait(Word& word, std::uint32_t expected, std::int64_t timeout_ns) {
    os::futex_wait(word.std_atomic(), expected, timeout_ns);
  }

  static void wake_one(Word& word) { os::futex_wake_one(word.std_atomic()); }
};

template <class Sync, class Futex>
class BasicSeat {
 public:
  enum Holder : std::uint32_t { none = 0, worker = 1, guest = 2 };

  /// Any thread: true if the caller holds it now.
  bool try_take(Holder holder) {
    std::uint32_t free = none;
    // (K) acquire, pairs with (R): the caller sees the worker as the last holder left it.
    return word_.compare_exchange(free, holder, Order::acquire);
  }

  /// Any thread: sleeps until the caller holds it. `before_sleep(holder)` is called before each
  /// sleep, which lasts at most `sleep_ns` (negative: no limit).
  template <class BeforeSleep>
  void take(Holder holder, std::int64_t sleep_ns, BeforeSleep&& before_sleep) {
    if (try_take(holder)) return;
    // Relaxed: a hint for take_after_waiters().
    waiting_count_.fetch_add(1, Order::relaxed);
    std::uint32_t seen = word_.load(Order::relaxed);
    for (;;) {
      if ((seen & holder_bits) == none) {
        // With the bit, as others may sleep. (K) as above.
        if (word_.compare_exchange(seen, holder | has_sleepers, Order::acquire)) break;
        continue;
      }
      if ((seen & has_sleepers) == 0 &&
          !word_.compare_exchange(seen, seen | has_sleepers, Order::relaxed))
        continue;
      before_sleep(static_cast<Holder>(seen & holder_bits));
      Futex::wait(word_, (seen & holder_bits) | has_sleepers, sleep_ns);
      seen = word_.load(Order::relaxed);
    }
    waiting_count_.fetch_add(~std::uint32_t{0}, Order::relaxed);
  }

  void take(Holder holder) {
    take(holder, -1, [](Holder) {});
  }

  /// As take(); but threads that wait for it get some time to be first.
  void take_after_waiters(Holder holder) {
    constexpr int yields_max = 64;
    for (int i = 0; i < yields_max && waiting_count_.load(Order::relaxed) != 0 &&
                    word_.load(Order::relaxed) == none;
         ++i)
      os::yield_core();
    take(holder);
  }

  /// The holder: releases it.
  void give() {
    // (R) release, pairs with (K).
    if ((word_.exchange(none, Order::release) & has_sleepers) != 0) Futex::wake_one(word_);
  }

  /// Any thread, a hint: whether a thread waits for it.
  [[nodiscard]] bool has_waiters() const { return waiting_count_.load(Order::relaxed) != 0; }

 private:
  static constexpr std::uint32_t holder_bits = 3;
  static constexpr std::uint32_t has_sleepers = 4;

  typename Sync::template Atomic<std::uint32_t> word_{none};
  typename Sync::template Atomic<std::uint32_t> waiting_count_{0};
};

using Seat = BasicSeat<StdSync, SeatFutex>;

}  // namespace sorrel::core
