//! BarrierWord - the counters and the generation of a barrier, without the list of waiters.
//!
//! Threads that wait read the generation, which lies on a line of its own: an arrival takes no line
//! from them. In teams of more than leaf_size_max threads, neighbours by number first meet in a
//! *leaf*, and the last of them arrives at the root for all: the counters are counted up side by
//! side. In smaller teams all arrive at the root.
//!
//! The root's word holds the generation, too, so a thread that opens the barrier (O) opens the
//! phase that it found full, and no later one. It may open when all have arrived and nothing is
//! unfinished. The thread that makes the last of these conditions true must find that out.
//! Therefore each thread changes the word by read-modify-write after its own part: threads that
//! arrive (A), through the last thread of their leaf, and threads that have finished a task since
//! (S). The last of them sees what all others did. Any thread of the team; wait-free. Ordering
//! labels: (A) arrive, (S) sync, (O) open, (G) generation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/cache_line.hpp"
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

  [[nodiscard]] std::uint32_t arrived_count() const { return static_cast<std::uint32_t>(word); }
};

template <class Sync, class Orders = BarrierOrders, std::uint32_t leaf_size_max = 4>
class BasicBarrierWord {
 public:
  /// The number of threads, which have the numbers below it. Only while no thread uses the barrier.
  void set_size(std::uint32_t size) {
    size_ = size;
    leaf_count_ = size <= leaf_size_max ? 0 : (size + leaf_size_max - 1) / leaf_size_max;
    leaves_ = std::make_unique<Leaf[]>(leaf_count_);
  }

  [[nodiscard]] std::uint32_t generation() const {
    // (G) acquire, pairs with (O): what the other threads did before the barrier opened. Seq_cst: a
    // waiter reads it after it has incremented the wait count (wait_list.hpp).
    return leaf_count_ == 0 ? BarrierState{word_.load(Orders::see)}.generation()
                            : generation_.load(Orders::see);
  }

  /// Adds the thread with this number to the count.
  BarrierState arrive(std::uint32_t number) {
    if (leaf_count_ != 0) {
      Leaf& leaf = leaves_[number / leaf_size_max];
      const std::uint32_t first = number / leaf_size_max * leaf_size_max;
      // Relaxed: the barrier does not open before the caller has arrived.
      const std::uint32_t generation = generation_.load(core::Order::relaxed);
      // (A) as below.
      const std::uint32_t arrived_count = leaf.arrived_count.fetch_add(1, Orders::arrive) + 1;
      if (arrived_count < std::min(leaf_size_max, size_ - first))
        return {std::uint64_t{generation} << 32};
      // Relaxed: the next arrivals come after the opening, and that after the one below.
      leaf.arrived_count.store(0, core::Order::relaxed);
    }
    // (A) releases what this thread did, acquires what was released to the word before.
    return {word_.fetch_add(1, Orders::arrive) + 1};
  }

  /// By a thread that has finished tasks since it arrived, or that is no member.
  BarrierState sync() {
    // (S) as (A).
    return {word_.fetch_add(0, Orders::sync)};
  }

  /// Whether all had arrived in this state.
  [[nodiscard]] bool is_full(BarrierState state) const {
    return state.arrived_count() == (leaf_count_ != 0 ? leaf_count_ : size_);
  }

  /// A hint, but exact while no other thread is in the team's region.
  [[nodiscard]] bool seems_empty() const {
    const auto is_empty = [](const Leaf& leaf) {
      return leaf.arrived_count.load(core::Order::relaxed) == 0;
    };
    return BarrierState{word_.load(core::Order::relaxed)}.arrived_count() == 0 &&
           std::all_of(leaves_.get(), leaves_.get() + leaf_count_, is_empty);
  }

  /// Precondition: in `state` all had arrived and nothing was unfinished. True for one caller.
  bool try_open(BarrierState state) {
    const std::uint32_t next = state.generation() + 1;
    // (O) release, pairs with (G). Each thread that found the barrier full has seen the others'
    // effects. Seq_cst: before the check for waiters (wait_list.hpp). Failure: another thread has
    // opened it.
    if (!word_.compare_exchange(state.word, std::uint64_t{next} << 32, Orders::open)) return false;
    if (leaf_count_ != 0) generation_.store(next, Orders::open);
    return true;
  }

  /// Whether the caller is the first to reach the team's single construct of that number. In small
  /// teams it lies on one line with the barrier with which most single constructs end.
  bool claim(std::uint64_t number) {
    std::uint64_t expected = number;
    // Relaxed: it only selects the first thread; the construct's barrier orders the rest. Few
    // threads make no load before the exchange, because that would fetch the line twice.
    if (leaf_count_ != 0 && claimed_.load(core::Order::relaxed) != number) return false;
    return claimed_.compare_exchange(expected, number + 1, core::Order::relaxed);
  }

  /// Clears arrivals and claims. Only when no other thread is in the team's region.
  void reset() {
    // Relaxed: the next fork publishes them.
    const BarrierState state{word_.load(core::Order::relaxed)};
    word_.store(std::uint64_t{state.generation()} << 32, core::Order::relaxed);
    claimed_.store(0, core::Order::relaxed);
    for (std::uint32_t i = 0; i < leaf_count_; ++i)
      leaves_[i].arrived_count.store(0, core::Order::relaxed);
  }

 private:
  struct alignas(cache_line_bytes) Leaf {
    typename Sync::template Atomic<std::uint32_t> arrived_count;
  };

  std::uint32_t size_ = 1;
  std::uint32_t leaf_count_ = 0;  ///< 0: all threads arrive at the root
  std::unique_ptr<Leaf[]> leaves_;
  /// The root. Low half: arrivals of threads, or of leaves; high half: the generation.
  alignas(cache_line_bytes) typename Sync::template Atomic<std::uint64_t> word_;
  typename Sync::template Atomic<std::uint64_t> claimed_;
  /// A copy of the generation, for threads that wait in teams with leaves.
  alignas(cache_line_bytes) typename Sync::template Atomic<std::uint32_t> generation_;
};

}  // namespace sorrel::omp
