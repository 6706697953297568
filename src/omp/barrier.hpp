//! Barrier - where the threads of a team meet: a counter of those that have arrived, and a
//! generation that the last one raises.
//!
//! Explicit tasks must be done before a barrier opens: "the last one" is whoever first finds all
//! arrived and no task unfinished, and that may be a thread that ran the last task. The exchange of
//! arrived = n for 0 (O) picks one of those who find it. Ordering labels: (A) arrive, (O) open, (G)
//! generation.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "omp/wait_list.hpp"

namespace sorrel::omp {

class Barrier {
 public:
  [[nodiscard]] std::uint32_t generation() const {
    // (G) acquire, pairs with open(): what the others did before they arrived.
    return generation_.load(std::memory_order_acquire);
  }

  /// Counts the caller in; whether all `size` have arrived.
  bool arrive(std::uint32_t size) {
    // (A) seq_cst: release what this thread did, and either the last to arrive sees that no task is
    // unfinished or the last to finish a task sees that all have arrived.
    return arrived_.fetch_add(1, std::memory_order_seq_cst) + 1 == size;
  }

  [[nodiscard]] bool is_full(std::uint32_t size) const {
    return arrived_.load(std::memory_order_seq_cst) == size;
  }

  /// All `size` have arrived and nothing is unfinished: opens it, once.
  void open(std::uint32_t size) {
    std::uint32_t expected = size;
    // (O) acq_rel: takes over what all (A) published. Failure: somebody else has opened it.
    if (!arrived_.compare_exchange_strong(expected, 0, std::memory_order_acq_rel,
                                          std::memory_order_relaxed))
      return;
    // (G) seq_cst: releases it to the others; before the look at the waiters (wait_list.hpp).
    generation_.fetch_add(1, std::memory_order_seq_cst);
    waiters_.wake_all();
  }

  /// Forgets who has arrived. Only when nobody else is in the team's region.
  void reset() {
    arrived_.store(0, std::memory_order_relaxed);  // the next fork publishes it
  }

  WaitList& waiters() { return waiters_; }

 private:
  alignas(cache_line_bytes) std::atomic<std::uint32_t> arrived_{0};
  std::atomic<std::uint32_t> generation_{0};
  alignas(cache_line_bytes) WaitList waiters_;
};

}  // namespace sorrel::omp
