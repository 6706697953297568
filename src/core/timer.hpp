//! TimerQueue - callbacks of a worker at given times.
//!
//! Belongs to one worker; a binary heap of timers, each inside the object that waits for it. The
//! clock is read only while a timer is set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sorrel::core {

class Worker;

struct Timer {
  std::int64_t due_ns = 0;
  /// A poll timer: only checks for messages from outside the memory of the job. It may be as late
  /// as a sleep, and a worker with no other timers counts as idle.
  bool is_poll = false;
  /// Runs on the worker, outside any fiber: must not suspend.
  void (*run)(Worker& worker, Timer& timer) = nullptr;
};

class TimerQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }

  /// The earliest due time; not empty.
  [[nodiscard]] std::int64_t next_due_ns() const { return heap_.front()->due_ns; }

  /// Adds a timer, which must outlive its run.
  void add(Timer& timer);

  /// Removes a timer that has been added and has not run. O(timers).
  void remove(Timer& timer);

  /// Whether the earliest is a poll timer; not empty.
  [[nodiscard]] bool next_is_poll() const { return heap_.front()->is_poll; }

  /// Whether all timers are poll timers.
  [[nodiscard]] bool has_only_polls() const { return heap_.size() == look_count_; }

  /// Runs every timer due at now_ns; returns how many.
  int run_due(Worker& worker, std::int64_t now_ns);

 private:
  std::vector<Timer*> heap_;
  std::size_t look_count_ = 0;
};

}  // namespace sorrel::core
