//! TimerQueue - what a worker must do at a given time.
//!
//! One worker's; a binary heap of timers, each inside whoever waits for it. The clock is read only
//! while a timer is set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sorrel::core {

class Worker;

struct Timer {
  std::int64_t due_ns = 0;
  /// Only looks whether something has come from outside of the job's memory. It may be as late as a
  /// sleep is, and a worker that waits for nothing else counts as asleep.
  bool is_look = false;
  /// Runs on the worker, outside of any fiber: must not suspend.
  void (*run)(Worker& worker, Timer& timer) = nullptr;
};

class TimerQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }

  /// The earliest due time; not empty.
  [[nodiscard]] std::int64_t next_due_ns() const { return heap_.front()->due_ns; }

  /// The timer must outlive its run.
  void add(Timer& timer);

  /// Whether the earliest is a look; not empty.
  [[nodiscard]] bool next_is_look() const { return heap_.front()->is_look; }

  /// Whether nothing is set but looks.
  [[nodiscard]] bool has_only_looks() const { return heap_.size() == look_count_; }

  /// Runs every timer due by now_ns; returns how many.
  int run_due(Worker& worker, std::int64_t now_ns);

 private:
  std::vector<Timer*> heap_;
  std::size_t look_count_ = 0;
};

}  // namespace sorrel::core
