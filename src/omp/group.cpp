#include "omp/group.hpp"

#include <algorithm>
#include <bit>

#include "arch/cpu.hpp"
#include "omp/pool.hpp"

namespace sorrel::omp {

namespace {

/// Takes a thread that nobody else may take, as soon as its worker has let go of it.
void take_place(Thread& thread) {
  // (D) acquire, pairs with (U).
  for (int round = 0; thread.place.load(std::memory_order_acquire) == Place::running; ++round) {
    constexpr int rounds_before_yield = 200;
    if (round < rounds_before_yield) {
      arch::pause();
    } else {
      sched_yield();
    }
  }
  thread.place.store(Place::running, std::memory_order_relaxed);  // ours already
}

/// The same where a thread may be taken for tasks by others.
void take_docked(Thread& thread) {
  for (;;) {
    Place docked = Place::docked;
    // (D) acquire, pairs with (U).
    if (thread.place.compare_exchange_strong(docked, Place::running, std::memory_order_acquire,
                                             std::memory_order_relaxed))
      return;
    for (int round = 0; thread.place.load(std::memory_order_relaxed) != Place::docked; ++round) {
      constexpr int rounds_before_yield = 200;
      if (round < rounds_before_yield) {
        arch::pause();
      } else {
        sched_yield();
      }
    }
  }
}

}  // namespace

Group::Group(Thread& first) : initial(first) {}

void Group::push_ready(Thread& thread) {
  thread.next_ready = nullptr;
  lock.lock();
  (first_ready == nullptr ? first_ready : last_ready->next_ready) = &thread;
  last_ready = &thread;
  ready_count.fetch_add(1, std::memory_order_seq_cst);  // has_work()
  lock.unlock();
}

Thread* Group::pop_ready() {
  if (ready_count.load(std::memory_order_relaxed) == 0) return nullptr;  // a hint
  lock.lock();
  Thread* thread = first_ready;
  if (thread != nullptr) {
    first_ready = thread->next_ready;
    // Under the lock.
    ready_count.fetch_sub(1, std::memory_order_relaxed);
    taken_count.store(taken_count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  lock.unlock();
  if (thread == nullptr) return nullptr;
  if (thread->is_started) {
    take_place(*thread);
  } else {
    take_docked(*thread);
    thread->is_started = true;
  }
  return thread;
}

Thread* Group::take_unstarted(std::uint32_t preferred) {
  std::uint64_t bits = unstarted.load(std::memory_order_relaxed);  // the exchange below decides
  while (bits != 0) {
    const std::uint64_t wanted = preferred < 64 ? std::uint64_t{1} << preferred : 0;
    const std::uint64_t bit = (bits & wanted) != 0 ? wanted : bits & (0 - bits);
    // (B) acq_rel: pairs with the fork's exchange, and with those who took other bits.
    bits = unstarted.fetch_and(~bit, std::memory_order_acq_rel);
    if ((bits & bit) == 0) continue;
    Thread& thread = *crew.load(std::memory_order_relaxed)[std::countr_zero(bit)];
    take_docked(thread);
    thread.is_started = true;
    return &thread;
  }
  return nullptr;
}

Thread* Group::take_docked_for_tasks(std::uint32_t preferred) {
  const TaskFlag* flag = task_flag.load(std::memory_order_acquire);
  if (flag == nullptr || !flag->seems_up()) return nullptr;
  // (R) acquire. Arrays are never given back, so an old one is readable, and has the same threads.
  // Threads beyond the bits start through the queue, and could be in it twice.
  const std::uint32_t count = std::min(crew_count.load(std::memory_order_acquire), bit_count);
  Thread* const* threads = crew.load(std::memory_order_acquire);
  for (std::uint32_t i = 0; i + 1 < count; ++i) {
    Thread& thread = *threads[1 + (preferred + i) % (count - 1)];
    Place docked = Place::docked;
    if (thread.place.load(std::memory_order_relaxed) != docked ||
        !thread.place.compare_exchange_strong(docked, Place::running, std::memory_order_acquire,
                                              std::memory_order_relaxed))
      continue;
    thread.errand = Errand::tasks;
    thread.is_started = true;
    return &thread;
  }
  return nullptr;
}

}  // namespace sorrel::omp
