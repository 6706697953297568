//! Sleeper - the word on which a thread sleeps until it is woken, without losing a wake-up.
//!
//! The owner announces its sleep (N), checks once more for work, then sleeps while is_parked(); a
//! waker publishes work, then checks the word (S). All four are sequentially consistent, so at
//! least one of the two sees the other: the owner's check must be a seq_cst load, and the waker
//! must publish by a seq_cst read-modify-write. For wakers that publish so anyway. Parker, whose
//! wakers publish by plain stores, relaxes (N) and (S) and has an asymmetric fence instead; it
//! interrupts all threads of the process. Only the owner calls prepare(), cancel() and is_parked();
//! any thread the rest. Wait-free. Ordering labels: (N), (S), (C) unpark, (W) woken. Source:
//! Dekker.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::core {

/// The orders by their labels; the model weakens one at a time.
struct SleeperOrders {
  static constexpr Order announce = Order::seq_cst;
  static constexpr Order check = Order::seq_cst;
  static constexpr Order count = Order::seq_cst;
  static constexpr Order check_count = Order::seq_cst;
};

template <class Sync, class Orders = SleeperOrders>
class BasicSleeper {
 public:
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t parked = 1;

  /// From now on wakers unpark it. Check for work once more after this call, then sleep or cancel.
  void prepare() { state_.store(parked, Orders::announce); }  // (N)

  /// Instead of sleeping, or after a sleep with a timeout. False: a waker has unparked it.
  bool cancel() { return state_.exchange(awake, Order::acquire) == parked; }  // (W) as is_parked()

  /// Whether it must still sleep.
  [[nodiscard]] bool is_parked() const {
    // (W) acquire, pairs with (C): what the waker did before it unparked this thread.
    return state_.load(Order::acquire) == parked;
  }

  /// After publishing work.
  [[nodiscard]] bool seems_parked() const { return state_.load(Orders::check) == parked; }  // (S)

  /// True for one caller, which must then wake the owner.
  bool unpark() {
    // (C) release, pairs with (W). Acquire: what the caller does next follows the owner's
    // prepare().
    return state_.exchange(awake, Order::acq_rel) == parked;
  }

  /// The word to sleep on while it is `parked`.
  auto& state() { return state_; }

 private:
  typename Sync::template Atomic<std::uint32_t> state_;
};

/// Counts the parked ones of several sleepers, so that wakers need not search when there is none.
/// The count is never below their number: a sleeper is counted (I) before it announces its sleep,
/// and subtracted after it was unparked. Ordering labels: (I), (K) the waker's check, as (N) and
/// (S).
template <class Sync, class Orders = SleeperOrders>
class BasicParkedCount {
 public:
  using Sleeper = BasicSleeper<Sync, Orders>;

  void prepare(Sleeper& sleeper) {
    (void)count_.fetch_add(1, Orders::count);  // (I)
    sleeper.prepare();
  }

  void cancel(Sleeper& sleeper) {
    if (sleeper.cancel()) subtract();
  }

  bool unpark(Sleeper& sleeper) {
    if (!sleeper.unpark()) return false;
    subtract();
    return true;
  }

  /// After publishing work.
  [[nodiscard]] bool has_parked() const { return count_.load(Orders::check_count) != 0; }  // (K)

  /// A hint.
  [[nodiscard]] std::uint32_t seems() const { return count_.load(Order::relaxed); }

 private:
  // Relaxed: a count that is too high costs a search.
  void subtract() { (void)count_.fetch_add(~std::uint32_t{0}, Order::relaxed); }

  typename Sync::template Atomic<std::uint32_t> count_;
};

using ParkedCount = BasicParkedCount<StdSync>;
using Sleeper = ParkedCount::Sleeper;

}  // namespace sorrel::core
