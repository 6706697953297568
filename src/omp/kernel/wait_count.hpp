//! WaitCount - how many threads wait in a list, so that a waker knows whether it must search the
//! list.
//!
//! A waiter increments the count (W), then examines its condition (E). A waker changes the
//! condition (M), then reads the count (C). All four are sequentially consistent: the waker sees
//! the waiter, or the waiter sees the waker's change. With a weaker order on any of them, each may
//! miss the other, and the waiter sleeps on. x86 does not show this, because its read-modify-writes
//! are fences. Any thread. Wait-free.
#pragma once

#include <cstdint>

#include "base/check.hpp"
#include "core/sync.hpp"

namespace sorrel::omp {

struct WaitOrders {
  static constexpr core::Order increment = core::Order::seq_cst;
  static constexpr core::Order examine = core::Order::seq_cst;
  static constexpr core::Order make = core::Order::seq_cst;
  static constexpr core::Order see = core::Order::seq_cst;
};

/// (E): order of a waiter's load of its condition. It includes acquire, for the waker's release.
inline constexpr std::memory_order waiter_order = core::StdSync::to_std(WaitOrders::examine);
/// (M): order of a waker's change, before it checks for waiters.
inline constexpr std::memory_order waker_order = core::StdSync::to_std(WaitOrders::make);

template <class Sync, class Orders = WaitOrders>
class BasicWaitCount {
 public:
  void increment() {
    // (W), pairs with (C).
    (void)count_.fetch_add(1, Orders::increment);
  }

  void decrement() {
    // Relaxed: only a hint is too high.
    [[maybe_unused]] const std::uint32_t before =
        count_.fetch_add(~std::uint32_t{0}, core::Order::relaxed);
    SORREL_ASSERT(before != 0);
  }

  [[nodiscard]] bool seems_zero() const {
    // (C), pairs with (W).
    return count_.load(Orders::see) == 0;
  }

 private:
  typename Sync::template Atomic<std::uint32_t> count_;
};

using WaitCount = BasicWaitCount<core::StdSync>;

}  // namespace sorrel::omp
