//! Parker - how a worker with nothing to do falls asleep without losing a wake-up, and how it is
//! known that everybody sleeps.
//!
//! The sleeper announces itself, looks once more for work, then sleeps; a waker publishes work,
//! then looks whether the sleeper has announced itself. The two fences make at least one of them
//! see the other (README.md, "Parking"). Sleepers that nothing but a waker can wake are counted in
//! a count that all parkers of a job share and that never exceeds the truth (README.md, "Nobody
//! is left"). Only the owner calls announce(), count_in() and get_up(); any thread may call
//! claim(), after it has published. The parker carries no data: what was published is read through
//! the mailbox's own order. State and count lie where sleeper and wakers both find them, in memory
//! shared by processes if need be; a Parker is no more than the two references.
//!
//! Progress: claim() wait-free. Ordering labels: (H) heavy fence of the sleeper, (L) light fence of
//! the waker; (C) claim and (W) woken, the state; (A) the count. Source: Dekker's store-load
//! handshake; asymmetric as in membarrier(2).
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

  /// Owner: from here on wakers will claim it. Look for work once more after this call.
  void announce() {
    // Relaxed: ordered by the fence below.
    state_.store(parked, Order::relaxed);
    // (H) pairs with (L): either our next look sees the waker's work, or the waker's look sees
    // `parked`.
    Sync::heavy_fence();
  }

  /// Owner, announced, when the second look has found nothing and no timer is set: returns how many
  /// are asleep, itself included. Sleep while is_parked(); whoever ends that has counted us out.
  std::int32_t count_in() {
    // (A) acquire and release: the last one to lie down sees what the others left behind.
    return asleep_count_.fetch_add(1, Order::acq_rel) + 1;
  }

  /// Owner, announced and not counted in: it is awake after this, claimed or not.
  void get_up() {
    // (W) acquire, pairs with (C): if a waker has claimed us, it has counted us out before.
    if (state_.exchange(awake, Order::acquire) == parked) return;
    // A waker has counted us out though we were not in.
    // Relaxed: nobody can take this for the last one's arrival, because we are awake.
    asleep_count_.fetch_add(1, Order::relaxed);
  }

  /// Owner: whether it still has to sleep.
  [[nodiscard]] bool is_parked() const {
    // (W) acquire, pairs with (C): when we count ourselves in again, we have been counted out.
    return state_.load(Order::acquire) == parked;
  }

  /// Any thread, after publishing work: true when the caller has claimed the sleeper and must wake
  /// it.
  bool claim() {
    // (L) pairs with (H).
    Sync::light_fence();
    // Relaxed: ordered by the fence; no data is read through the state.
    if (state_.load(Order::relaxed) != parked) return false;
    // Counted out before it can run: the count may be short while we are here, never too high.
    // Relaxed: ordered by (C).
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
