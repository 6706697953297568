//! Group - a contention group: a native thread, the OpenMP threads below it, and those of them that
//! could run now.
//!
//! The first line is what helpers look at; it changes when there is something for them. A region of
//! the outermost level publishes its threads as bits (`unstarted`): taking a bit (B) is the right
//! to start that thread. Everything else that is ready waits in the queue.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "loop/job_threads.hpp"
#include "omp/spin_lock.hpp"
#include "omp/start_bits.hpp"
#include "omp/task_flag.hpp"
#include "omp/thread.hpp"
#include "omp/worker.hpp"

namespace sorrel::omp {

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

struct Group {
  /// Threads that have a bit; the others start through the queue.
  static constexpr std::uint32_t bit_count = StartBits::count;

  explicit Group(Thread& first);

  // Any thread; written when there is work.
  alignas(cache_line_bytes) StartBits unstarted;
  std::atomic<std::uint32_t> ready_count{0};
  std::atomic<std::uint32_t> at_home_count{0};
  /// Members of the outermost region. (R) release by the fork, acquire by who looks for somebody to
  /// run tasks.
  std::atomic<std::uint32_t> crew_count{0};
  std::atomic<Thread* const*> crew{nullptr};
  /// The outermost team may have explicit tasks that nobody has begun; see TaskFlag.
  std::atomic<const TaskFlag*> task_flag{nullptr};

  // The queue: under lock_.
  alignas(cache_line_bytes) SpinLock lock;
  ReadyQueue ready;
  /// Those that only the native thread may run: they are about to call MPI. Seldom any.
  ReadyQueue at_home;

  // Of a teams construct: constant while it runs.
  std::uint32_t teams_count = 1;
  std::uint32_t teams_number = 0;

  // The native thread's own.
  alignas(cache_line_bytes) Worker root;
  Thread& initial;
  /// Of a rank that shares its process: its threads run on its own worker.
  const loop::JobThreads* job = nullptr;
  /// Of a rank that is a process, once one of its threads has come home.
  const loop::JobThreads* home = nullptr;
  void* rank = nullptr;
  bool was_preempted = false;   ///< the fiber that it ran last
  std::uint64_t last_wait = 0;  ///< cycles that it waited in vain the last time
  std::uint32_t index = 0;      ///< in the pool
  bool is_known = false;        ///< it has had a region of several threads
  bool is_in_pool = false;
  /// For the pool's eyes: read now and then.
  std::atomic<bool> is_in_region{false};
  /// How often the native thread could go on as soon as a fiber was taken off its core.
  std::atomic<std::uint32_t> rescue_count{0};
  std::atomic<std::uint64_t> region_count{0};
  std::atomic<std::uint64_t> taken_count{0};  ///< from the queue; under the lock

  /// Whether somebody could run now. Any thread.
  [[nodiscard]] bool has_work() const {
    // Seq_cst, pairs with the changes that make it true: a sleeper looks after it has announced
    // itself, and the changer looks for sleepers after its change.
    return unstarted.any() || ready_count.load(std::memory_order_seq_cst) != 0;
  }

  /// Whether somebody could run that only the native thread may run.
  [[nodiscard]] bool has_work_at_home() const {
    return at_home_count.load(std::memory_order_seq_cst) != 0;  // as above
  }

  void push_ready(Thread& thread);
  Thread* pop_ready();

  void push_at_home(Thread& thread);
  Thread* pop_at_home();

  /// Takes a thread that has not been started, `preferred` if it is one; null if there is none.
  Thread* take_unstarted(std::uint32_t preferred);

  /// Takes a docked thread for explicit tasks, if there are tasks.
  Thread* take_docked_for_tasks(std::uint32_t preferred);
};

}  // namespace sorrel::omp
