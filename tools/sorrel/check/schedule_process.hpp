//! ScheduleProcess - a child process of `sorrel run --schedules`, which runs the job once.
//!
//! Signals to the command reach the job: a request for what its ranks do (SIGUSR1) is answered as
//! in other runs, and a request to end ends the job first. If the command is killed, the job is
//! ended as well.
#pragma once

#include <functional>

namespace sorrel::tool {

struct ScheduleEnd {
  /// The exit status of the job; 128 and the signal if one has killed the child process.
  int status = 0;
  /// The signal that has asked the command to end; 0: none.
  int end_signal = 0;
};

/// Runs `run()` in a child process, and returns when that has ended. A silent one prints nothing.
/// `on_activity_request` is called in the command, before such a request is passed on.
[[nodiscard]] ScheduleEnd run_schedule(bool is_silent,
                                       const std::function<int()>& run,
                                       const std::function<void()>& on_activity_request);

}  // namespace sorrel::tool
