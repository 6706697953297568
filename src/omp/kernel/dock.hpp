//! Dock - the state of a fiber: docked, suspended, or running on some worker.
//!
//! A worker gives a fiber up (U) after the fiber's registers are saved; the thread that resumes the
//! fiber takes it (D) and so sees the registers. Several threads may try to take a docked fiber; a
//! suspended fiber is taken by the thread that has removed it from its list or queue. Wait-free.
//! Ordering labels: (U), (D).
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::omp {

enum class RunState : std::uint32_t { running, docked, suspended };

struct DockOrders {
  static constexpr core::Order give_up = core::Order::release;
  static constexpr core::Order take = core::Order::acquire;
};

template <class Sync, class Orders = DockOrders>
class BasicDock {
 public:
  /// A hint.
  [[nodiscard]] RunState seems() const { return static_cast<RunState>(state_.load(relaxed)); }

  /// The fiber's worker: the registers are saved.
  void give_up(RunState state) {
    // (U) release, pairs with (D).
    state_.store(static_cast<std::uint32_t>(state), Orders::give_up);
  }

  /// Any thread: on success the docked fiber belongs to the caller.
  bool try_take_docked() {
    auto expected = static_cast<std::uint32_t>(RunState::docked);
    // (D) acquire, pairs with (U).
    return state_.compare_exchange(expected, static_cast<std::uint32_t>(RunState::running),
                                   Orders::take);
  }

  /// Only one thread may call it. False while the fiber's worker has not given it up.
  bool try_take() {
    // (D) acquire, pairs with (U).
    if (state_.load(Orders::take) == static_cast<std::uint32_t>(RunState::running)) return false;
    keep();
    return true;
  }

  /// Called by the only thread that has access to the fiber.
  void keep() {
    // Relaxed: no other thread reads it now.
    state_.store(static_cast<std::uint32_t>(RunState::running), relaxed);
  }

 private:
  static constexpr core::Order relaxed = core::Order::relaxed;
  typename Sync::template Atomic<std::uint32_t> state_{
      static_cast<std::uint32_t>(RunState::running)};
};

using Dock = BasicDock<core::StdSync>;

}  // namespace sorrel::omp
