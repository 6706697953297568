//! Dock - where a fiber is: docked, suspended, or running on some worker.
//!
//! A worker gives the place up (U) after the fiber's registers are saved; who resumes the fiber
//! takes it (D), and so has them. A docked fiber may be taken by any of several, a suspended one by
//! whoever has taken it out of its list or queue. Wait-free. Ordering labels: (U), (D).
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::omp {

enum class Place : std::uint32_t { running, docked, suspended };

struct DockOrders {
  static constexpr core::Order give_up = core::Order::release;
  static constexpr core::Order take = core::Order::acquire;
};

template <class Sync, class Orders = DockOrders>
class BasicDock {
 public:
  /// A hint.
  [[nodiscard]] Place seems() const { return static_cast<Place>(place_.load(relaxed)); }

  /// Its worker: the fiber's registers are saved.
  void give_up(Place place) {
    // (U) release, pairs with (D).
    place_.store(static_cast<std::uint32_t>(place), Orders::give_up);
  }

  /// Any thread: a docked fiber is the caller's then.
  bool try_take_docked() {
    auto expected = static_cast<std::uint32_t>(Place::docked);
    // (D) acquire, pairs with (U).
    return place_.compare_exchange(expected, static_cast<std::uint32_t>(Place::running),
                                   Orders::take);
  }

  /// The only one who may: false while its worker has not let go of it.
  bool try_take() {
    // (D) acquire, pairs with (U).
    if (place_.load(Orders::take) == static_cast<std::uint32_t>(Place::running)) return false;
    keep();
    return true;
  }

  /// The only one who has it.
  void keep() {
    // Relaxed: nobody else looks.
    place_.store(static_cast<std::uint32_t>(Place::running), relaxed);
  }

 private:
  static constexpr core::Order relaxed = core::Order::relaxed;
  typename Sync::template Atomic<std::uint32_t> place_{static_cast<std::uint32_t>(Place::running)};
};

using Dock = BasicDock<core::StdSync>;

}  // namespace sorrel::omp
