#include "omp/team/work_share.hpp"

#include <cstdlib>

#include "arch/cpu.hpp"
#include "base/check.hpp"
#include "omp/sched/schedule.hpp"
#include "omp/team/team_thread.hpp"

namespace sorrel::omp {

namespace {

struct Turn {
  const std::atomic<std::uint64_t>* turn;
  std::uint64_t free;

  /// The slot is free for this construct, or an earlier thread has opened it.
  static bool has_come(void* argument) {
    const auto& self = *static_cast<Turn*>(argument);
    // (T), pairs with leave().
    return self.turn->load(waiter_order) >= self.free;
  }
};

}  // namespace

/// Frees the parts of the construct that a plain loop does not have.
void WorkShare::free_extras() {
  if (memory == nullptr && posted == nullptr && counts == nullptr && reductions == nullptr)
      [[likely]]
    return;
  std::free(memory);
  delete[] posted;
  delete[] counts;
  memory = nullptr;
  posted = nullptr;
  counts = nullptr;
  reductions = nullptr;
}

WorkShare& WorkShares::enter(TeamThread& thread, bool& is_first) {
  const std::uint64_t number = thread.share_count++;
  WorkShare& share = slots_[number % slot_count];
  // Even: free for use turn / 2. Odd: in use.
  const std::uint64_t free = number / slot_count * 2;
  // (T) acquire, pairs with leave(): the slot's last users have done their reads.
  if (share.turn_.load(std::memory_order_acquire) < free) [[unlikely]] {
    Turn turn{.turn = &share.turn_, .free = free};
    wait_until(thread, share.waiters, {.holds_of = Turn::has_come, .argument = &turn});
  }
  thread.share = &share;
  thread.chunk_index = 0;
  thread.holds_chunk = false;
  std::uint64_t expected = free;
  // Relaxed failure: another thread fills it; (P) orders that.
  is_first = share.turn_.load(std::memory_order_relaxed) == free &&
             share.turn_.compare_exchange_strong(expected, free + 1, std::memory_order_acquire,
                                                 std::memory_order_relaxed);
  if (is_first) return share;
  // (P) acquire, pairs with publish(). Filling takes a few instructions, unless the first thread
  // has lost its core, or is a fiber whose worker has.
  for (int round = 0; share.published_.load(std::memory_order_acquire) != number + 1; ++round) {
    constexpr int rounds_before_yield = 1000;
    if (round < rounds_before_yield) {
      arch::pause();
    } else {
      yield(thread);
    }
  }
  return share;
}

void WorkShares::publish(TeamThread& thread, WorkShare& share) {
  SORREL_ASSERT(share.turn_.load(std::memory_order_relaxed) % 2 == 1);
  // (P) release.
  share.published_.store(thread.share_count, std::memory_order_release);
}

void WorkShares::leave(TeamThread& thread, std::uint32_t team_size) {
  SORREL_ASSERT(thread.share != nullptr, "the end of a loop that has not begun");
  WorkShare& share = *thread.share;
  thread.share = nullptr;
  // Acq_rel: the last thread has seen all other threads leave.
  if (team_size > 1 && share.left_.fetch_add(1, std::memory_order_acq_rel) + 1 != team_size) return;
  SORREL_ASSERT(share.turn_.load(std::memory_order_relaxed) % 2 == 1);
  share.free_extras();
  share.left_.store(0, std::memory_order_relaxed);  // published by (T)
  // (T): frees the slot.
  share.turn_.fetch_add(1, waker_order);
  wake_all(share.waiters);
}

void WorkShares::reset() {
  for (WorkShare& share : slots_) {
    share.free_extras();
    // Relaxed: the next fork publishes it.
    share.turn_.store(0, std::memory_order_relaxed);
    share.published_.store(0, std::memory_order_relaxed);
    share.left_.store(0, std::memory_order_relaxed);
  }
}

}  // namespace sorrel::omp
