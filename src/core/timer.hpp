//! TimerQueue - what a worker must do at a given time.
//!
//! One worker's; a binary heap of timers, each inside whoever waits for it. The clock is read only
//! while a timer is set.
#pragma once

#include <cstdint>
#include <vector>

namespace sorrel::core {

class Worker;

struct Timer {
  std::int64_t due_ns = 0;
  /// As late as a sleep is: an idle worker need not be awake before it is due.
  bool may_be_late = false;
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

  /// Whether the earliest may be late; not empty.
  [[nodiscard]] bool next_may_be_late() const { return heap_.front()->may_be_late; }

  /// Runs every timer due by now_ns; returns how many.
  int run_due(Worker& worker, std::int64_t now_ns);

 private:
  std::vector<Timer*> heap_;
};

}  // namespace sorrel::core
