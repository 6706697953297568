//! Parker - puts an idle worker to sleep without losing a wake-up, and detects that all workers
//! sleep.
//!
//! The sleeper sets its state to parked, checks once more for work, then sleeps; a waker publishes
//! work, then checks the state. The two fences make at least one of them see the other (README.md,
//! "Parking"). Sleepers that only a waker can wake are counted in a count that all parkers of a job
//! share and that never exceeds the true number (README.md, "All workers idle"). Only the owner
//! calls prepare_park(), mark_idle() and cancel_park(); any thread may call try_unpark(), after it
//! has published. The parker carries no data: published records are read through the mailbox's own
//! order. State and count lie where sleeper and wakers both find them, in memory shared by
//! processes if need be; a Parker is no more than the two references.
//!
//! Progress: try_unpark() wait-free. Ordering labels: (H) heavy fence of the sleeper, (L) light
//! fence of the waker; (C) unpark and (W) woken, the state; (A) the count. Source: Dekker's
//! store-load handshake; asymmetric as in membarrier(2).
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::core {

template <class Sync>
class BasicParker {
 public:
  using State = typename Sync::template Atomic<std::uint32_t>;
  using Count = typename Sync::template Atomic<std::int32_t>;
  static constexpr std::uint32_t awake = 0;
  static constexpr std::uint32_t parked = 1;

  BasicParker(State& state, Count& asleep_count) : state_(state), asleep_count_(asleep_count) {}

  /// Owner: from now on wakers unpark it. Check for work once more after this call.
  void prepare_park() {
    // Relaxed: ordered by the fence below.
    state_.store(parked, Order::relaxed);
    // (H) pairs with (L): either the owner's next check sees the waker's work, or the waker reads
    // `parked`.
    Sync::heavy_fence();
  }

  /// Owner, after prepare_park() and a check without result, without a timer: counts it as idle and
  /// returns the new count. Sleep while is_parked(); the waker that ends that has decremented the
  /// count.
  std::int32_t mark_idle() {
    // (A) acquire and release: the last one to fall asleep sees the effects of the others.
    return asleep_count_.fetch_add(1, Order::acq_rel) + 1;
  }

  /// Owner, after prepare_park() and without mark_idle(): it is awake after this, unparked or not.
  void cancel_park() {
    // (W) acquire, pairs with (C): a waker that has unparked it has decremented the count before.
    if (state_.exchange(awake, Order::acquire) == parked) return;
    // A waker has decremented the count though this worker was not counted. Relaxed: no waker can
    // take this for the last worker falling asleep, because this worker is awake.
    asleep_count_.fetch_add(1, Order::relaxed);
  }

  /// Owner: whether it must still sleep.
  [[nodiscard]] bool is_parked() const {
    // (W) acquire, pairs with (C): before this worker is counted again, it has been subtracted.
    return state_.load(Order::acquire) == parked;
  }

  /// Any thread, after publishing work: returns true if the caller has unparked the sleeper and
  /// must wake it.
  bool try_unpark() {
    // (L) pairs with (H).
    Sync::light_fence();
    // Relaxed: ordered by the fence; no data is read through the state.
    if (state_.load(Order::relaxed) != parked) return false;
    // Decremented before the sleeper can run: the count may be short here, never too high. Relaxed:
    // ordered by (C).
    asleep_count_.fetch_add(-1, Order::relaxed);
    // (C) release, pairs with (W). The exchange lets one waker win.
    if (state_.exchange(awake, Order::release) == parked) return true;
    asleep_count_.fetch_add(1, Order::relaxed);
    return false;
  }

  State& state() { return state_; }

 private:
  State& state_;
  Count& asleep_count_;
};

using Parker = BasicParker<StdSync>;

}  // namespace sorrel::core
