//! Barrier - where the threads of a team meet, and those that wait for it to open.
//!
//! Explicit tasks must be done before a barrier opens; see meeting.hpp for the counter, and
//! wait_list.hpp for the waiters.
#pragma once

#include "base/cache_line.hpp"
#include "omp/meeting.hpp"
#include "omp/wait_list.hpp"

namespace sorrel::omp {

class alignas(cache_line_bytes) Barrier : public BasicMeeting<core::StdSync> {
 public:
  /// All had arrived in `state`, and nothing was unfinished: opens it, once.
  void open(MeetingState state) {
    if (try_open(state)) waiters_.wake_all();
  }

  WaitList& waiters() { return waiters_; }

 private:
  alignas(cache_line_bytes) WaitList waiters_;
};

}  // namespace sorrel::omp
