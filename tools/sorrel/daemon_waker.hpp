//! DaemonWaker - keeps a launcher's daemon from sleeping while it ends a job.
//!
//! Open MPI's daemons end what is left of a job with SIGCONT, SIGTERM and SIGKILL, and sleep for a
//! second before each of the last two, one node after the other, even for processes that are gone.
//! Any signal ends the sleep. SIGCHLD is one that a daemon expects at any time: it looks which of
//! its children have ended, and finds none.
#pragma once

#include <sys/types.h>

namespace sorrel::tool {

class DaemonWaker {
 public:
  /// The caller's parent, which is known to be alive.
  explicit DaemonWaker(pid_t daemon);
  ~DaemonWaker();
  DaemonWaker(const DaemonWaker&) = delete;
  DaemonWaker& operator=(const DaemonWaker&) = delete;

  /// Leaves a process that sends it SIGCHLD every period_ms until it is gone, or for limit_ms. That
  /// process keeps nothing open and outlives the caller. Does nothing where the system has no
  /// pidfd_open(), since another process might have the daemon's number by then.
  void begin() const;

  static constexpr int period_ms = 20;
  /// Two sleeps for each of two nodes; with more it has done what it could.
  static constexpr int limit_ms = 4000;

 private:
  int daemon_ = -1;
};

}  // namespace sorrel::tool
