//! BarrierWord - the counter and the generation of a barrier, without the list of waiters.
//!
//! Both lie in one word, so a thread that opens it (O) opens the barrier phase that it found full,
//! and no later one. It may open when all have arrived and nothing is unfinished. The thread that
//! makes the last of these conditions true must find that out. Therefore each thread changes the
//! word by read-modify-write after its own part: threads that arrive (A), and threads that have
//! finished a task since (S). The last of them sees what all others did. Any thread of the team;
//! wait-free. Ordering labels: (A) arrive, (S) sync, (O) open, (G) generation.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::omp {

struct BarrierOrders {
  static constexpr core::Order arrive = core::Order::acq_rel;
  static constexpr core::Order sync = core::Order::acq_rel;
  static constexpr core::Order open = core::Order::seq_cst;
  static constexpr core::Order see = core::Order::seq_cst;
};

/// A snapshot of the word.
struct BarrierState {
  std::uint64_t word = 0;

  [[nodiscard]] std::uint32_t generation() const { return static_cast<std::uint32_t>(word >> 32); }

  [[nodiscard]] bool is_full(std::uint32_t size) const { return arrived_count() == size; }

  [[nodiscard]] std::uint32_t arrived_count() const { return static_cast<std::uint32_t>(word); }
};

template <class Sync, class Orders = BarrierOrders>
class BasicBarrierWord {
 public:
  [[nodiscard]] std::uint32_t generation() const {
    // (G) acquire, pairs with (A) and (S): what the other threads did before the barrier opened.
    // Seq_cst: a waiter reads it after it has incremented the wait count (wait_list.hpp).
    return BarrierState{word_.load(Orders::see)}.generation();
  }

  /// Adds the caller to the count.
  BarrierState arrive() {
    // (A) releases what this thread did, acquires what was released to the word before.
    return {word_.fetch_add(1, Orders::arrive) + 1};
  }

  /// By a thread that has finished tasks since it arrived, or that is no member.
  BarrierState sync() {
    // (S) as (A).
    return {word_.fetch_add(0, Orders::sync)};
  }

  /// A hint, but exact while no other thread is in the team's region.
  [[nodiscard]] BarrierState seems() const { return {word_.load(core::Order::relaxed)}; }

  /// Precondition: in `state` all had arrived and nothing was unfinished. True for one caller.
  bool try_open(BarrierState state) {
    const std::uint64_t opened = static_cast<std::uint64_t>(state.generation() + 1) << 32;
    // (O) release, pairs with (G): effects of tasks whose threads have not changed the word since.
    // Seq_cst: before the check for waiters (wait_list.hpp). Failure: another thread has opened it.
    return word_.compare_exchange(state.word, opened, Orders::open);
  }

  /// Whether the caller is the first to reach the team's single construct of that number. It lies
  /// here, on one line with the barrier with which most single constructs end.
  bool claim(std::uint64_t number) {
    std::uint64_t expected = number;
    // Relaxed: it only selects the first thread; the construct's barrier orders the rest. No load
    // before the exchange, because that would fetch the line twice.
    return claimed_.compare_exchange(expected, number + 1, core::Order::relaxed);
  }

  /// Clears arrivals and claims. Only when no other thread is in the team's region.
  void reset() {
    // Relaxed: the next fork publishes them.
    const BarrierState state{word_.load(core::Order::relaxed)};
    word_.store(static_cast<std::uint64_t>(state.generation()) << 32, core::Order::relaxed);
    claimed_.store(0, core::Order::relaxed);
  }

 private:
  /// Low half: arrivals; high half: number of openings.
  typename Sync::template Atomic<std::uint64_t> word_;
  typename Sync::template Atomic<std::uint64_t> claimed_;
};

}  // namespace sorrel::omp
