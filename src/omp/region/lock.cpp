#include "omp/region/lock.hpp"

#include <algorithm>
#include <array>

#include "arch/cpu.hpp"
#include "base/cache_line.hpp"
#include "omp/kernel/perturb.hpp"
#include "omp/region/native_thread.hpp"
#include "omp/sched/group.hpp"
#include "omp/sched/pool.hpp"
#include "omp/sched/schedule.hpp"

namespace sorrel::omp {

namespace {

struct alignas(cache_line_bytes) Row {
  WaitList waiters;
};

constexpr std::size_t row_count = 64;
constinit std::array<Row, row_count> rows;

WaitList& waiters_of(const void* address) {
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  return rows[(number >> 2 ^ number >> 8 ^ number >> 14) % row_count].waiters;
}

// A typical holder keeps a lock for a few hundred instructions: about 10 us.
constexpr int rounds_max = 300;
constexpr int pauses_max = 8;

}  // namespace

bool Lock::take_as_waiter(void* argument) {
  auto& word = static_cast<Lock*>(argument)->word_;
  // If it is marked already, the thread that gives it wakes a waiter.
  if (word.load(waiter_order) == 2) return false;
  // (L) acquire, pairs with give(), which checks for waiters: this one is already counted.
  return word.exchange(2, waiter_order) == 0;
}

void Lock::take_contended() {
  TeamThread& thread = this_thread();
  const HelperPool* pool = pool_if_made();
  // The holder may need this worker, or this core.
  const bool may_spin = pool != nullptr && pool->spin_cycles() != 0;
  // A poll takes the line from the holder, which needs it to give the lock: poll less and less.
  int pause_count = 1;
  for (int round = 0; may_spin && round < rounds_max; round += pause_count) {
    for (int i = 0; i < pause_count; ++i)
      arch::pause();
    pause_count = std::min(2 * pause_count, pauses_max);
    // Relaxed: a guess.
    if (word_.load(std::memory_order_relaxed) == 0 && try_take()) return;
    if (may_others_run(thread)) break;
  }
  perturb(thread.number, PerturbedPoint::park);
  wait_until(thread, waiters_of(this), {.holds_of = take_as_waiter, .argument = this, .key = this});
}

void Lock::wake_one() {
  omp::wake_one(waiters_of(this), this);
}

}  // namespace sorrel::omp
