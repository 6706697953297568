//! HostLaunch - starts one process of a job under a host MPI's launcher, stays as its parent, and
//! says who it was when it is gone.
//!
//! The launcher ends the other processes when this one returns a status that is not 0, or dies of
//! the signal that has killed the process; MPICH's is told besides. The process is killed by the
//! system when its parent dies; the parent ends when the launcher's daemon does. Signals go on to
//! the process. Returns when it, and what it has left behind, is gone.
#pragma once

#include <functional>
#include <string>

namespace sorrel::tool {

struct HostLaunchPlan {
  std::string program;  ///< path
  char* const* words = nullptr;
  std::string host;  ///< for people
  /// As in LaunchPlan.
  std::string wrapper;
  /// Says what is wrong with all processes.
  bool is_first = true;
  /// MPICH's launcher has started us.
  bool has_hydra = false;
  /// Open MPI's has.
  bool has_sleepy_daemon = false;
  /// In the child, before the program is executed.
  std::function<void(int board_descriptor)> set_environment;
};

/// The exit status of the process. Does not return when a signal has killed it.
[[nodiscard]] int launch_under_host(const HostLaunchPlan& plan);

}  // namespace sorrel::tool
