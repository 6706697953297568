//! Parker - puts an idle worker to sleep without losing a wake-up, and detects that all workers
//! sleep.
//!
//! A Sleeper whose wakers run no fence: the owner runs a heavy one (README.md, "Parking"). Sleepers
//! that only a waker can wake are counted in a count that all parkers of a job share and that never
//! exceeds the true number (README.md, "All workers idle"). Only the owner calls prepare_park(),
//! mark_idle() and cancel_park(); any thread may call try_unpark(), after it has published. The
//! parker carries no data: published records are read through the mailbox's own order. State and
//! count lie where sleeper and wakers both find them, in memory shared by processes if need be; a
//! Parker is no more than the two references.
//!
//! Progress: try_unpark() wait-free. Ordering labels: (H) heavy fence of the sleeper, (L) light
//! fence of the waker; (C) and (W) of sleeper.hpp; (A) the count. Source: asymmetric as in
//! membarrier(2).
#pragma once

#include <cstdint>

#include "core/sleeper.hpp"

namespace sorrel::core {

template <class Sync>
class BasicParker {
  /// Ordered by the fences.
  struct Orders {
    static constexpr Order announce = Order::relaxed;
    static constexpr Order check = Order::relaxed;
  };

 public:
  using State = BasicSleeper<Sync, Orders>;
  using Count = typename Sync::template Atomic<std::int32_t>;

  BasicParker(State& state, Count& asleep_count) : state_(state), asleep_count_(asleep_count) {}

  /// Owner: from now on wakers unpark it. Check for work once more after this call.
  void prepare_park() {
    state_.prepare();
    // (H) pairs with (L): either the owner's next check sees the waker's work, or the waker reads
    // `parked`.
    Sync::heavy_fence();
  }

  /// Owner, after prepare_park() and a poll without work, without a timer: counts it as idle and
  /// returns the new count. Sleep while is_parked(); the waker that ends that has decremented the
  /// count.
  std::int32_t mark_idle() {
    // (A) acquire and release: the last one to fall asleep sees the effects of the others.
    return asleep_count_.fetch_add(1, Order::acq_rel) + 1;
  }

  /// Owner, after prepare_park() and without mark_idle(): it is awake after this, unparked or not.
  void cancel_park() {
    // (W) a waker that has unparked it has decremented the count before.
    if (state_.cancel()) return;
    // A waker has decremented the count though this worker was not counted. Relaxed: no waker can
    // take this for the last worker falling asleep, because this worker is awake.
    asleep_count_.fetch_add(1, Order::relaxed);
  }

  /// Owner: whether it must still sleep.
  [[nodiscard]] bool is_parked() const {
    // (W) before this worker is counted again, it has been subtracted.
    return state_.is_parked();
  }

  /// Any thread, after publishing work: returns true if the caller has unparked the sleeper and
  /// must wake it.
  bool try_unpark() {
    // (L) pairs with (H).
    Sync::light_fence();
    if (!state_.seems_parked()) return false;
    // Decremented before the sleeper can run: the count may be short here, never too high. Relaxed:
    // ordered by (C).
    asleep_count_.fetch_add(-1, Order::relaxed);
    if (state_.unpark()) return true;
    asleep_count_.fetch_add(1, Order::relaxed);
    return false;
  }

  /// The word to sleep on while it is `parked`.
  auto& state() { return state_.state(); }

 private:
  State& state_;
  Count& asleep_count_;
};

using Parker = BasicParker<StdSync>;

}  // namespace sorrel::core
