//! Group - a contention group: a native thread, its descendant OpenMP threads, and those of them
//! that are ready.
//!
//! Helpers poll the first line, which changes when there is work for them. A region of the
//! outermost level publishes its threads as bits (`unstarted`): the thread that takes a bit (B) may
//! start that team thread. All other ready threads wait in the queue.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "core/thread_pool.hpp"
#include "loop/job_threads.hpp"
#include "omp/kernel/spin_lock.hpp"
#include "omp/kernel/start_bits.hpp"
#include "omp/kernel/task_flag.hpp"
#include "omp/sched/thread.hpp"
#include "omp/sched/worker.hpp"
#include "trace/job_trace.hpp"

namespace sorrel::omp {

class HelperPool;

/// Threads in the order in which they became ready.
class ReadyQueue {
 public:
  void push(Thread& thread);

  /// The oldest, or null.
  Thread* pop();

 private:
  Thread* first_ = nullptr;
  Thread* last_ = nullptr;
};

/// The layer of regions, as the scheduler of fibers calls it.
struct TeamHooks {
  /// The body of a fiber; never returns.
  void (*run_fiber)(void* thread);
  /// Whether a docked fiber, taken by the caller, has done its part of a region that is still open
  /// and may have tasks that no thread has begun.
  bool (*may_help_with_tasks)(const Thread& thread);
  /// On a fiber on its own thread that has docked: whether it starts by itself (own_thread.hpp).
  bool (*takes_next_start)(Thread& fiber);
  /// The body of the region that a fiber is in; 0: none yet.
  std::uintptr_t (*code_of)(const Thread& thread);
  /// On a fiber that ends, and on a native thread that leaves its group.
  void (*leave)(Thread& thread);
  /// Ends all fibers of a native thread that is in no region; false if it is in one.
  bool (*end_fibers)(Thread& native);
};

struct Group {
  /// Threads that have a bit; the others start through the queue.
  static constexpr std::uint32_t bit_count = StartBits::count;

  Group(Thread& first, const TeamHooks& team_hooks);

  // Any thread; written when there is work.
  alignas(cache_line_bytes) StartBits unstarted;
  std::atomic<std::uint32_t> ready_count{0};
  std::atomic<std::uint32_t> for_main_thread_count{0};
  /// Members of the outermost region. (R) release by the fork, acquire by a thread that searches
  /// for a docked thread to run tasks.
  std::atomic<std::uint32_t> member_count{0};
  std::atomic<Thread* const*> members{nullptr};
  /// The outermost team may have explicit tasks that no thread has begun; see TaskFlag.
  std::atomic<const TaskFlag*> task_flag{nullptr};

  // The queue: under lock_.
  alignas(cache_line_bytes) SpinLock lock;
  ReadyQueue ready;
  /// Threads that only the native thread may run, because they are about to call MPI. Usually none.
  ReadyQueue for_main_thread;

  /// On which the native thread sleeps.
  alignas(cache_line_bytes) core::Sleeper root_sleeper;
  // The native thread's own.
  alignas(cache_line_bytes) Worker root;
  Thread& initial;
  const TeamHooks& hooks;
  /// For a rank that shares its process: its threads run on its own worker.
  const loop::JobThreads* job = nullptr;
  /// For a rank that is a process, once one of its threads has migrated to the main thread.
  const loop::JobThreads* main_thread = nullptr;
  void* rank = nullptr;
  /// Holds the lock of the unnamed critical construct: one for each rank that shares its process,
  /// else one for the process. Groups of one rank have the same.
  void** critical_name = nullptr;
  /// Null: the run is not traced.
  const trace::JobTrace* trace = nullptr;
  bool was_preempted = false;        ///< of the fiber that ran last
  std::uint64_t last_wait = 0;       ///< cycles of the last unsuccessful wait
  const HelperPool* pool = nullptr;  ///< to which it was added at its first region; see is_in_pool
  std::uint32_t index = 0;           ///< in the pool
  bool is_in_pool = false;
  /// Read by the pool's monitor now and then.
  std::atomic<bool> is_in_region{false};
  /// How often the native thread could continue as soon as a fiber was taken off its core.
  std::atomic<std::uint32_t> rescue_count{0};
  std::atomic<std::uint64_t> region_count{0};
  std::atomic<std::uint64_t> taken_count{0};  ///< from the queue; under the lock

  /// Whether a thread is ready. Any thread.
  [[nodiscard]] bool has_work() const {
    // Seq_cst, pairs with the changes that make it true: a sleeper checks this after it has
    // announced its sleep, and the changer checks for sleepers after its change.
    return unstarted.any() || ready_count.load(std::memory_order_seq_cst) != 0;
  }

  /// Whether a thread is ready that only the native thread may run.
  [[nodiscard]] bool has_work_for_main_thread() const {
    return for_main_thread_count.load(std::memory_order_seq_cst) != 0;  // as above
  }

  /// Wakes the native thread, after a change that it waits for. False if it does not sleep.
  bool wake_root() {
    if (!root_sleeper.seems_parked() || !root_sleeper.unpark()) return false;
    os::futex_wake_one(root_sleeper.state().std_atomic());
    return true;
  }

  void push_ready(Thread& thread);
  Thread* pop_ready();

  void push_for_main_thread(Thread& thread);
  Thread* pop_for_main_thread();

  /// Takes a thread that has not been started, `preferred` if possible; null if there is none.
  Thread* take_unstarted(std::uint32_t preferred);

  /// Makes `thread` a docked fiber of the group. False if the system allows no more.
  bool make_fiber(Thread& thread);

  /// Ends a fiber that has docked or is about to: destructors of its thread-locals run.
  /// make_fiber() may be called for `thread` again.
  static void end_fiber(Thread& thread);

  /// Takes a docked thread for explicit tasks, if there are tasks.
  Thread* take_docked_for_tasks(std::uint32_t preferred);
};

}  // namespace sorrel::omp
