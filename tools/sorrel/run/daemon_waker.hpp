//! DaemonWaker - keeps a launcher's daemon from sleeping while it ends a job.
//!
//! To end a job, Open MPI's daemons send SIGCONT, SIGTERM and SIGKILL. They sleep for a second
//! before each of the last two, on one node after the other, even for processes that are gone. Any
//! signal ends the sleep. SIGCHLD is harmless: a daemon expects it at any time, and only checks
//! which of its children have ended.
#pragma once

#include <sys/types.h>

namespace sorrel::tool {

class DaemonWaker {
 public:
  /// `daemon`: the caller's parent, which must be alive.
  explicit DaemonWaker(pid_t daemon);
  ~DaemonWaker();
  DaemonWaker(const DaemonWaker&) = delete;
  DaemonWaker& operator=(const DaemonWaker&) = delete;

  /// Starts a process that sends SIGCHLD to the daemon every period_ms until the daemon has
  /// ended, or for limit_ms. That process keeps no files open and outlives the caller. Does nothing
  /// if the system has no pidfd_open(): the daemon's process id might belong to another process by
  /// then.
  void begin() const;

  static constexpr int period_ms = 20;
  /// Two sleeps for each of two nodes. With more nodes the remaining sleeps are not shortened.
  static constexpr int limit_ms = 4000;

 private:
  int daemon_ = -1;
};

}  // namespace sorrel::tool
