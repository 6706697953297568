//! Meeting - the counter and the generation of a barrier, without those who wait.
//!
//! "The last one" is whoever first finds all arrived and nothing unfinished, and that may be a
//! thread that ran the last task: the exchange of arrived = n for 0 (O) picks one of those who find
//! it. Any thread of the team; wait-free. Ordering labels: (A) arrive, (O) open, (G) generation.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::omp {

struct MeetingOrders {
  static constexpr core::Order arrive = core::Order::seq_cst;
  static constexpr core::Order raise = core::Order::seq_cst;
  static constexpr core::Order see = core::Order::acquire;
};

template <class Sync, class Orders = MeetingOrders>
class BasicMeeting {
 public:
  [[nodiscard]] std::uint32_t generation() const {
    // (G) acquire, pairs with try_open(): what the others did before they arrived.
    return generation_.load(Orders::see);
  }

  /// Counts the caller in; whether all `size` have arrived.
  bool arrive(std::uint32_t size) {
    // (A) seq_cst: release what this thread did, and either the last to arrive sees that no task is
    // unfinished or the last to finish a task sees that all have arrived.
    return arrived_.fetch_add(1, Orders::arrive) + 1 == size;
  }

  [[nodiscard]] bool is_full(std::uint32_t size) const {
    return arrived_.load(core::Order::seq_cst) == size;
  }

  /// All `size` have arrived and nothing is unfinished. True for one caller.
  bool try_open(std::uint32_t size) {
    std::uint32_t expected = size;
    // (O) relaxed: arrive() or is_full() has taken over what all (A) published. Failure: somebody
    // else has opened it.
    if (!arrived_.compare_exchange(expected, 0, core::Order::relaxed)) return false;
    // (G) release to the others. Seq_cst: before the look at the waiters (wait_list.hpp).
    (void)generation_.fetch_add(1, Orders::raise);
    return true;
  }

  /// Whether the caller is the first to come to the team's single construct of that number. It lies
  /// here because most of them end with this barrier: who comes fetches one line.
  bool claim(std::uint64_t number) {
    std::uint64_t expected = number;
    // Relaxed: only who comes first; the construct's barrier orders the rest. Without a look
    // before, which would fetch the line twice.
    return claimed_.compare_exchange(expected, number + 1, core::Order::relaxed);
  }

  /// Forgets who has arrived and what was claimed. Only when nobody else is in the team's region.
  void reset() {
    // Relaxed: the next fork publishes them.
    arrived_.store(0, core::Order::relaxed);
    claimed_.store(0, core::Order::relaxed);
  }

 private:
  typename Sync::template Atomic<std::uint32_t> arrived_;
  typename Sync::template Atomic<std::uint32_t> generation_;
  typename Sync::template Atomic<std::uint64_t> claimed_;
};

}  // namespace sorrel::omp
