//! WorkerThread - an OS thread and the workers that it runs: its own, or none, or several in turn.
//!
//! There are as many threads as workers, and as long as the process may use all of them each runs
//! its own worker and nothing here costs anything. When fewer are to run (Scheduler::set_width),
//! workers are handed over whole, fibers, mailboxes and all, by the thread that has them to the one
//! that shall; what is its worker's alone stays so, since at any time one thread has it. A worker
//! is handed over between two fibers only. README.md, "Fewer threads than workers", has the
//! protocol.
//!
//! Ordering labels: (G) hand over, (H) take over, the list of handed workers; (S) and (T), fences
//! of whoever hands over and of a thread that is about to look at one worker only.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

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

  /// Any thread: something has changed that it should look at, should it sleep without workers.
  void wake();

  /// The thread that runs worker `worker` of `worker_count` when `width` threads run: contiguous
  /// blocks that differ in size by at most one.
  static std::uint32_t thread_of(std::uint32_t worker,
                                 std::uint32_t worker_count,
                                 std::uint32_t width) {
    return static_cast<std::uint32_t>(std::uint64_t{worker} * width / worker_count);
  }

 private:
  void hand(Worker& worker);
  void take_handed();
  void give_away();
  [[nodiscard]] bool has_all() const;
  void run_the_only_one();
  void run_several();
  bool run_each_once();
  void sleep();
  void wait(std::uint32_t news, std::int64_t end_ns);
  void sleep_without_workers();
  bool is_news_for_somebody();
  void end_workers();

  Scheduler& scheduler_;
  const std::uint32_t index_;
  ThreadState state_;
  std::vector<Worker*> workers_;

  // Any thread.
  alignas(cache_line_bytes) IndexList handed_;
  /// Counts what may concern a thread that sleeps.
  std::atomic<std::uint32_t> news_{0};
  /// Whom it runs without looking at anything else.
  std::atomic<Worker*> only_worker_{nullptr};
};

}  // namespace sorrel::core
