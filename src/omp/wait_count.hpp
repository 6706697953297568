//! WaitCount - how many wait in a list, by which a waker knows whether it must look for them.
//!
//! A waiter counts itself in (W), then looks whether what it waits for has come (E); a waker brings
//! it (M), then looks at the count (C). All four are sequentially consistent: so the waker sees the
//! waiter, or the waiter sees what the waker did. With less than that on any of them both may miss
//! the other, and the waiter sleeps on; x86 does not show it, since its read-modify-writes are
//! fences. Any thread. Wait-free.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::omp {

struct WaitOrders {
  static constexpr core::Order count_in = core::Order::seq_cst;
  static constexpr core::Order examine = core::Order::seq_cst;
  static constexpr core::Order make = core::Order::seq_cst;
  static constexpr core::Order see = core::Order::seq_cst;
};

/// (E): how the condition of a waiter looks at what it waits for. It has the waker's release, too.
inline constexpr std::memory_order waiter_looks = core::StdSync::to_std(WaitOrders::examine);
/// (M): how a waker changes that, before it looks for waiters.
inline constexpr std::memory_order waker_makes = core::StdSync::to_std(WaitOrders::make);

template <class Sync, class Orders = WaitOrders>
class BasicWaitCount {
 public:
  void count_in() {
    // (W), pairs with (C).
    (void)count_.fetch_add(1, Orders::count_in);
  }

  void count_out() {
    // Relaxed: only a hint is too high.
    (void)count_.fetch_add(~std::uint32_t{0}, core::Order::relaxed);
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
