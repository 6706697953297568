//! Runner - runs the steps of a compiled graph: which tasks are ready, which thread takes them, and
//! when a step is done.
//!
//! A *worker queue* holds ready tasks. Queue 0 belongs to the owner, the thread or rank that called
//! run() and the only one that calls the messenger. Helpers take the other queues for a *slice* of
//! about 20 us at a time. Helpers join by parallel_for(), whose bodies are slices; the loop is open
//! only while there is work to share. README.md has the protocol.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <sorrel/graph/graph.hpp>

#include "base/cache_line.hpp"
#include "core/index_list.hpp"
#include "graph/run/compiled.hpp"
#include "graph/run/deque.hpp"
#include "graph/run/step_window.hpp"
#include "trace/job_trace.hpp"

namespace sorrel::graph {

/// A ready task, with values that follow from its key and step.
struct Ready {
  Task task;
  CompiledFamily* family = nullptr;
  /// Index of the key within the family.
  Index index = 0;
};

/// An exception and the task that threw it.
struct Failure {
  std::exception_ptr exception;
  Ready task;
};

class Runner {
 public:
  static constexpr std::uint32_t queue_count_max = 64;
  static constexpr int family_count_max = 1 << 12;
  static constexpr Index no_step = -1;

  Runner(const Dag& dag, Compiled& compiled, Messenger* messenger);

  /// Makes a channel of the messenger known. Not during a run.
  void add_channel(int number, CompiledFamily& family, Index message, int peer);

  /// Runs the steps from `first` to `steps` - 1, at least one; those before are done. May suspend.
  /// Leaves the exception of a task in `failure`. Returns how many steps it has run.
  Report run(Index first, Index steps, Failure& failure);

 private:
  struct alignas(cache_line_bytes) WorkerQueue {
    Deque urgent;
    Deque gap_filling;
    // The thread that has taken the queue.
    ZeroedArray<Deque::Cell> urgent_cells;
    ZeroedArray<Deque::Cell> gap_filling_cells;
    std::uint64_t next_victim = 1;
    std::uint32_t tasks_per_slice = 1;
    /// The mean of the tasks of the last slice.
    std::uint64_t cycles_per_task = 0;
    // Any thread.
    alignas(cache_line_bytes) std::atomic<bool> is_taken{false};
  };

  /// The message that a channel of the messenger carries; those of other graphs have no family.
  struct Channel {
    CompiledFamily* family = nullptr;
    Index message = 0;
    int peer = 0;
  };

  /// Body of the parallel loop; see slice().
  static int slice_of_loop(void* runner, std::int64_t begin, std::int64_t end);
  int slice(std::int64_t number);
  int owner_slice();
  void share();
  void end_slice();
  [[nodiscard]] bool may_leave_work_to_others();
  bool help();
  [[nodiscard]] bool leaves_work() const;
  WorkerQueue* take_queue();

  // Work of one queue; see runner.cpp.
  std::uint32_t work(WorkerQueue& queue);
  std::uint32_t work_until_slice_ends(WorkerQueue& queue);
  void run_traced(const Ready& ready);
  bool find(WorkerQueue& queue, Ready& ready);
  bool take_roots(WorkerQueue& queue);
  bool steal(WorkerQueue& queue, Deque::Item& item);
  bool finish(WorkerQueue& queue, const Ready& done, Ready& next);
  void fail(const Ready& ready);

  // Dependencies.
  void satisfy(
      WorkerQueue& queue, const CompiledEdge& edge, const Ready& done, Index step, Ready& next);
  void satisfy_all(WorkerQueue& queue, const Edge& edge, const Key& from, Index step, Ready& next);
  void satisfy_one(
      WorkerQueue& queue, CompiledFamily& family, const Key& key, Index step, Ready& next);
  void become_ready(WorkerQueue& queue,
                    CompiledFamily& family,
                    const Key& key,
                    Index index,
                    Index step,
                    Ready& next);
  void become_ready_if_admitted(WorkerQueue& queue,
                                CompiledFamily& family,
                                const Key& key,
                                Index index,
                                Index step,
                                Ready& next);
  void release_parked(WorkerQueue& queue, Ready& next);
  void push(WorkerQueue& queue, const Ready& ready);

  /// First counter of a step, in a family of `task_count` tasks.
  [[nodiscard]] Index counters_of(Index step, Index task_count) const {
    return has_one_set_ ? 0 : step % 3 * task_count;
  }

  // Steps.
  void begin_trace();
  void begin_step(Index step);
  void complete_sink(WorkerQueue& queue, Index step, Ready& next);

  [[nodiscard]] Index steps_done() const { return static_cast<Index>(step_window_.done()); }

  /// Number of steps begun, as far as begin_step() begins them.
  [[nodiscard]] Index steps_begun() const {
    return has_one_set_ ? std::min(steps_done() + 1, steps_) : first_step_ + 1;
  }

  // Messages: the owner only, except enqueue_message().
  void begin_messages();

  [[nodiscard]] bool has_messages_to_begin() const {
    return !compiled_.message_roots().empty() && message_steps_ < steps_begun();
  }

  void enqueue_message(int channel, Index step);
  void start(int channel, Index step);
  void start(int channel);
  [[nodiscard]] bool is_awaited(const Ready& message) const;
  bool progress_messages();
  void wait_for_message();
  void finish_messages(int count);
  [[nodiscard]] Ready message_of(int channel) const;
  static void explain_wait(void* runner, char* text, std::size_t bytes);
  [[nodiscard]] std::string text_of_wait() const;

  [[nodiscard]] static Deque::Item item_of(const Ready& ready);
  [[nodiscard]] Ready task_of(Deque::Item item) const;
  [[nodiscard]] bool has_surplus() const;
  [[nodiscard]] bool has_long_roots() const;
  [[nodiscard]] bool is_quiescent() const;
  [[nodiscard]] bool is_over() const;
  void clear_after_failure();

  // Constant during a run.
  const Dag& dag_;
  Compiled& compiled_;
  Messenger* messenger_;
  std::vector<std::unique_ptr<WorkerQueue>> queues_;
  Index first_step_ = 0;
  Index steps_ = 0;
  const bool has_one_set_;
  bool is_comm_worker_ = false;
  /// Null: the run is not traced.
  const trace::JobTrace* trace_ = nullptr;
  /// By family, in traced runs.
  std::vector<trace::TaskName> traced_names_;

  // The owner only.
  std::vector<int> ended_channels_;
  int messages_in_progress_ = 0;
  /// Number of steps whose message roots have been started.
  Index message_steps_ = 0;
  std::uint32_t idle_rounds_ = 0;
  double waiting_seconds_ = 0;
  std::uint64_t helped_last_ = 0;
  std::uint64_t quantum_began_ = 0;

  // Any thread: the roots whose counters are still to be incremented in a step, step << 32
  // next root.
  alignas(cache_line_bytes) std::atomic<std::uint64_t> roots_{0};
  // Any thread: sinks left in each of the two steps in progress.
  alignas(cache_line_bytes) std::atomic<std::int64_t> sinks_left_[2]{};
  alignas(cache_line_bytes) StepWindow step_window_;
  std::atomic<bool> is_cancelled_{false};
  std::atomic<bool> has_failure_{false};
  /// The owner's worker is a communication worker: it leaves tasks to helpers as long as these
  /// come.
  std::atomic<bool> leaves_work_{false};
  Failure failure_;
  alignas(cache_line_bytes) std::atomic<std::uint32_t> helpers_inside_{0};
  // Links and steps of parked roots, by the number of the task.
  ZeroedArray<StepWindow::Link> parked_links_;
  ZeroedArray<Index> parked_steps_;
  // Messages that helpers have made ready.
  core::IndexList outbox_;
  std::vector<core::IndexList::Link> outbox_links_;
  /// The step of the message in progress, or about to start, on each channel; else no_step.
  std::vector<Index> channel_steps_;
  std::vector<Channel> channels_;
};

}  // namespace sorrel::graph
