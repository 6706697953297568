//! WindowLoad - the load of a process in the latest window, for one reader in another process.
//!
//! Windows have numbers from 1 on. A process publishes its load at the end of each. The reader ends
//! a window, for all processes, when it has read all loads of the one before: so a process does not
//! write while it reads. (How a process learns that a window is over is not part of this.)
//!
//! Progress: wait-free. All zero is the initial state. Limits: 2^32 windows. Ordering labels: (P)
//! publish, (R) read.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::core {

template <class Sync>
class BasicWindowLoad {
 public:
  /// Owner only, after the end of the window.
  void publish(std::uint32_t window, double load) {
    load_.mutate() = load;
    // (P) release, pairs with (R): the load.
    window_.store(window, Order::release);
  }

  /// Whether the load of the window is published.
  [[nodiscard]] bool is_of(std::uint32_t window) const {
    // (R) acquire, pairs with (P).
    return window_.load(Order::acquire) == window;
  }

  /// When is_of() the latest window.
  [[nodiscard]] double load() const { return load_.get(); }

 private:
  typename Sync::template Plain<double> load_;
  typename Sync::template Atomic<std::uint32_t> window_;
};

using WindowLoad = BasicWindowLoad<StdSync>;

}  // namespace sorrel::core
