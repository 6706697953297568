//! Runner - runs the steps of a compiled graph: who is ready, who takes it, and when a step is
//! done.
//!
//! A *lane* is a place to work at: a deque of ready tasks. Lane 0 is the owner's, the thread or
//! rank that called run() and the only one that touches the messenger; the others are taken by
//! helpers for a *slice* of about 20 us at a time. Helpers come by parallel_for(), whose bodies are
//! slices; the loop is open only while there is something to share. README.md has the protocol.
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
#include "graph/run/gates.hpp"

namespace sorrel::graph {

/// A task that is ready, with what follows from its key and step.
struct Ready {
  Task task;
  CompiledFamily* family = nullptr;
  /// Of the key, within the family.
  Index index = 0;
};

/// What came out of a task.
struct Failure {
  std::exception_ptr exception;
  Ready task;
};

class Runner {
 public:
  static constexpr std::uint32_t lane_count_max = 64;
  static constexpr int family_count_max = 1 << 12;
  static constexpr Index no_step = -1;

  Runner(const Dag& dag,
         Compiled& compiled,
         Messenger* messenger,
         const std::vector<int>& channel_peers);

  /// Runs so many steps, at least 1. May suspend. A task's exception is left in `failure`.
  Report run(Index steps, Failure& failure);

 private:
  struct alignas(cache_line_bytes) Lane {
    Deque urgent;
    Deque gap_filling;
    // The one who has taken it.
    ZeroedArray<Deque::Cell> urgent_cells;
    ZeroedArray<Deque::Cell> gap_filling_cells;
    std::uint64_t next_victim = 1;
    std::uint32_t tasks_per_slice = 1;
    // Any thread.
    alignas(cache_line_bytes) std::atomic<bool> is_taken{false};
  };

  /// What the parallel loop calls; see slice().
  static int slice_of_loop(void* runner, std::int64_t begin, std::int64_t end);
  int slice(std::int64_t number);
  int owner_slice();
  void end_slice();
  [[nodiscard]] bool may_leave_work_to_others();
  bool help();
  [[nodiscard]] bool leaves_work() const;
  Lane* take_lane();

  // Lanes; see runner.cpp.
  std::uint32_t work(Lane& lane);
  std::uint32_t work_until_slice_ends(Lane& lane);
  bool find(Lane& lane, Ready& ready);
  bool take_roots(Lane& lane);
  bool steal(Lane& lane, Deque::Item& item);
  bool finish(Lane& lane, const Ready& done, Ready& next);
  void fail(const Ready& ready);

  // Arrivals.
  void arrive_by(Lane& lane, const Arc& arc, const Ready& done, Index step, Ready& next);
  void arrive_at_all(Lane& lane, const Edge& edge, const Key& from, Index step, Ready& next);
  void arrive_at(Lane& lane, CompiledFamily& family, const Key& key, Index step, Ready& next);
  void become_ready(
      Lane& lane, CompiledFamily& family, const Key& key, Index index, Index step, Ready& next);
  void become_ready_at_gate(
      Lane& lane, CompiledFamily& family, const Key& key, Index index, Index step, Ready& next);
  void release_parked(Lane& lane, Ready& next);
  void push(Lane& lane, const Ready& ready);

  /// Where the counters of a step begin, in a family of so many tasks.
  [[nodiscard]] Index counters_of(Index step, Index task_count) const {
    return has_one_set_ ? 0 : step % 3 * task_count;
  }

  // Steps.
  void let_begin(Index step);
  void note_sink(Lane& lane, Index step, Ready& next);

  [[nodiscard]] Index steps_done() const { return static_cast<Index>(gates_.done()); }

  /// Steps that have begun, as far as they begin by being told.
  [[nodiscard]] Index steps_begun() const {
    return has_one_set_ ? std::min(steps_done() + 1, steps_) : 1;
  }

  // Messages; the owner's, but for hand_over().
  void begin_messages();

  [[nodiscard]] bool has_messages_to_begin() const {
    return !compiled_.message_roots().empty() && message_steps_ < steps_begun();
  }

  void hand_over(int channel, Index step);
  void start(int channel, Index step);
  bool look_after_messages();
  void wait_for_message();
  void finish_messages(int count);
  [[nodiscard]] Ready message_of(int channel) const;
  static void explain_wait(void* runner, char* text, std::size_t bytes);
  [[nodiscard]] std::string text_of_wait() const;

  [[nodiscard]] static Deque::Item item_of(const Ready& ready);
  [[nodiscard]] Ready task_of(Deque::Item item) const;
  [[nodiscard]] bool has_surplus() const;
  [[nodiscard]] bool is_quiescent() const;
  [[nodiscard]] bool is_over() const;
  void clear_after_failure();

  // Constant while it runs.
  const Dag& dag_;
  Compiled& compiled_;
  Messenger* messenger_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  Index steps_ = 0;
  const bool has_one_set_;
  bool is_comm_worker_ = false;

  // The owner's.
  std::vector<int> ended_channels_;
  int messages_under_way_ = 0;
  /// Steps whose message roots have been told.
  Index message_steps_ = 0;
  std::uint32_t idle_rounds_ = 0;
  double waiting_seconds_ = 0;
  std::uint64_t helped_last_ = 0;
  std::uint64_t turn_began_ = 0;

  // Any thread: the tasks that are to be told that a step begins, step << 32 | next root.
  alignas(cache_line_bytes) std::atomic<std::uint64_t> roots_{0};
  // Any thread: sinks left of the two steps.
  alignas(cache_line_bytes) std::atomic<std::int64_t> sinks_left_[2]{};
  alignas(cache_line_bytes) Gates gates_;
  std::atomic<bool> is_cancelled_{false};
  std::atomic<bool> has_failure_{false};
  /// The owner's worker is there for messages: it leaves tasks to others as long as these come.
  std::atomic<bool> leaves_work_{false};
  Failure failure_;
  alignas(cache_line_bytes) std::atomic<std::uint32_t> helpers_inside_{0};
  // Of roots that are parked at their gate, by the task's number.
  ZeroedArray<Gates::Link> parked_links_;
  ZeroedArray<Index> parked_steps_;
  // Messages that helpers have made ready.
  core::IndexList outbox_;
  std::vector<core::IndexList::Link> outbox_links_;
  /// Of the message that a channel has or is about to have under way; else none.
  std::vector<Index> channel_steps_;
  const std::vector<int> channel_peers_;
};

}  // namespace sorrel::graph
