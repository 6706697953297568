//! Barrier - the barrier of a team, with the list of threads that wait for it to open.
//!
//! Explicit tasks must be done before a barrier opens. barrier_word.hpp holds the counter,
//! wait_list.hpp the waiters.
#pragma once

#include "base/cache_line.hpp"
#include "omp/kernel/barrier_word.hpp"
#include "omp/sched/schedule.hpp"

namespace sorrel::omp {

class alignas(cache_line_bytes) Barrier : public BasicBarrierWord<core::StdSync> {
 public:
  /// Opens the barrier, once. Precondition: in `state` all had arrived and nothing was unfinished.
  void open(BarrierState state) {
    if (try_open(state)) wake_all(waiters_);
  }

  WaitList& waiters() { return waiters_; }

 private:
  alignas(cache_line_bytes) WaitList waiters_;
};

}  // namespace sorrel::omp
