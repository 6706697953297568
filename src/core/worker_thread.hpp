//! WorkerThread - an OS thread and the workers that it runs: its own, none, or several in turn.
//!
//! There are as many threads as workers. While the process may use all threads, each runs its own
//! worker and this class costs nothing. When fewer threads are to run (Scheduler::set_width), the
//! thread that has a worker migrates it whole, with fibers and mailboxes, to the thread it belongs
//! to. At any time one thread has a worker. A worker migrates only between two fibers. README.md,
//! "Fewer threads than workers", has the protocol.
//!
//! Ordering labels: (G) migrate, (H) take over, the list of migrated workers; (S) and (T), fences
//! of the migrating thread and of a thread that is about to run one worker alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/core_watch.hpp"
#include "core/index_list.hpp"
#include "core/worker.hpp"

namespace sorrel::core {

class WorkerThread {
 public:
  WorkerThread(Scheduler& scheduler, std::uint32_t index) : scheduler_(scheduler), index_(index) {}

  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;

  /// The body of the thread: until the scheduler stops.
  void run();

  /// Any thread: wakes the thread, if it sleeps without workers, to check for changes.
  void wake();

  /// The thread that runs worker `worker` of `worker_count` when `width` threads run: contiguous
  /// blocks whose sizes differ by at most one.
  static std::uint32_t thread_of(std::uint32_t worker,
                                 std::uint32_t worker_count,
                                 std::uint32_t width) {
    return static_cast<std::uint32_t>(std::uint64_t{worker} * width / worker_count);
  }

 private:
  void migrate(Worker& worker);
  void take_migrated();
  void migrate_workers();
  [[nodiscard]] bool has_all() const;
  void run_alone();
  void run_several();
  bool run_each_once();
  void sleep();
  void wait(std::uint32_t news, std::int64_t end_ns);
  void sleep_without_workers();
  bool has_work_for_any();
  void end_workers();

  Scheduler& scheduler_;
  const std::uint32_t index_;
  ThreadState state_;
  std::vector<Worker*> workers_;
  /// Watches the thread while it has several workers.
  CoreWatch core_watch_;

  // Any thread.
  alignas(cache_line_bytes) IndexList migrated_;
  /// Counts events that may concern a sleeping thread.
  std::atomic<std::uint32_t> news_{0};
  /// The worker that it runs alone, without checking its list.
  std::atomic<Worker*> only_worker_{nullptr};
};

}  // namespace sorrel::core
