//! Parker - how a worker with nothing to do falls asleep without losing a wake-up.
//!
//! The sleeper announces itself, looks once more for work, then sleeps; a waker publishes work,
//! then looks whether the sleeper has announced itself. The two fences make at least one of them
//! see the other (README.md, "Parking"). Only the owner calls announce(), retract() and sleep();
//! any thread may call claim(), after it has published. The parker carries no data: what was
//! published is read through the mailbox's own order.
//!
//! Progress: claim() wait-free. Ordering labels: (H) heavy fence of the sleeper, (L) light fence of
//! the waker. Source: Dekker's store-load handshake; asymmetric as in membarrier(2).
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::core {

template <class Sync>
class BasicParker {
 public:
  using State = typename Sync::template Atomic<std::uint32_t>;
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t parked = 1;

  /// Owner: from here on wakers will claim it. Look for work once more after this call.
  void announce() {
    // Relaxed: ordered by the fence below.
    state_.store(parked, Order::relaxed);
    // (H) pairs with (L): either our next look sees the waker's work, or the waker's look sees
    // `parked`.
    Sync::heavy_fence();
  }

  /// Owner: takes the announcement back. False when a waker has claimed it already.
  bool retract() {
    std::uint32_t expected = parked;
    // Relaxed: no data is read through the state.
    return state_.compare_exchange(expected, awake, Order::relaxed);
  }

  /// Owner: whether it still has to sleep.
  [[nodiscard]] bool is_parked() const { return state_.load(Order::relaxed) == parked; }

  /// Any thread, after publishing work: true when the caller has claimed the sleeper and must wake
  /// it.
  bool claim() {
    // (L) pairs with (H).
    Sync::light_fence();
    // Relaxed twice: ordered by the fence; the exchange lets one waker win.
    return state_.load(Order::relaxed) == parked &&
           state_.exchange(awake, Order::relaxed) == parked;
  }

  State& state() { return state_; }

 private:
  State state_{awake};
};

using Parker = BasicParker<StdSync>;

}  // namespace sorrel::core
