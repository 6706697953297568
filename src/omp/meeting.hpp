//! Meeting - the counter and the generation of a barrier, without those who wait.
//!
//! Both lie in one word, so that whoever opens it (O) opens the meeting that he has found full, and
//! no later one. It may open when all have arrived and nothing is unfinished. Who makes the last of
//! that true must find it: everybody changes the word by read-modify-write after his own part,
//! those who arrive (A) and those who have finished a task since (S), so whoever comes last to the
//! word sees what all the others did. Any thread of the team; wait-free. Ordering labels: (A)
//! arrive, (S) sync, (O) open, (G) generation.
#pragma once

#include <cstdint>

#include "core/sync.hpp"

namespace sorrel::omp {

struct MeetingOrders {
  static constexpr core::Order arrive = core::Order::acq_rel;
  static constexpr core::Order sync = core::Order::acq_rel;
  static constexpr core::Order open = core::Order::seq_cst;
  static constexpr core::Order see = core::Order::seq_cst;
};

/// What a meeting was when somebody looked.
struct MeetingState {
  std::uint64_t word = 0;

  [[nodiscard]] std::uint32_t generation() const { return static_cast<std::uint32_t>(word >> 32); }

  [[nodiscard]] bool is_full(std::uint32_t size) const {
    return static_cast<std::uint32_t>(word) == size;
  }
};

template <class Sync, class Orders = MeetingOrders>
class BasicMeeting {
 public:
  [[nodiscard]] std::uint32_t generation() const {
    // (G) acquire, pairs with (A) and (S): what the others did before the barrier opened. Seq_cst:
    // a waiter looks after it has counted itself in (wait_list.hpp).
    return MeetingState{word_.load(Orders::see)}.generation();
  }

  /// Counts the caller in.
  MeetingState arrive() {
    // (A) release what this thread did, acquire what came to the word before.
    return {word_.fetch_add(1, Orders::arrive) + 1};
  }

  /// Of one who has finished tasks of others since he arrived, or without being one of them.
  MeetingState sync() {
    // (S) as (A).
    return {word_.fetch_add(0, Orders::sync)};
  }

  /// All had arrived in `state`, and nothing was unfinished then. True for one caller.
  bool try_open(MeetingState state) {
    const std::uint64_t opened = static_cast<std::uint64_t>(state.generation() + 1) << 32;
    // (O) release, pairs with (G): what tasks did whose threads have not come to the word since.
    // Seq_cst: before the look at the waiters (wait_list.hpp). Failure: somebody else has opened
    // it.
    return word_.compare_exchange(state.word, opened, Orders::open);
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
    const MeetingState state{word_.load(core::Order::relaxed)};
    word_.store(static_cast<std::uint64_t>(state.generation()) << 32, core::Order::relaxed);
    claimed_.store(0, core::Order::relaxed);
  }

 private:
  /// Low half: who has arrived; high half: how often it has opened.
  typename Sync::template Atomic<std::uint64_t> word_;
  typename Sync::template Atomic<std::uint64_t> claimed_;
};

}  // namespace sorrel::omp
