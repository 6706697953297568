//! HostLaunch - starts one process of a job under a host MPI's launcher, stays as its parent, and
//! reports which process it was if it fails.
//!
//! The launcher ends the other processes when this one returns a status that is not 0, or dies of
//! the signal that has killed the process; MPICH's launcher also gets a message. The system kills
//! the process when its parent dies; the parent ends when the launcher's daemon does. Signals are
//! forwarded to the process. Returns when the process, and every process that it has left behind,
//! has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "tools/sorrel/run/equal_process.hpp"

namespace sorrel::tool {

struct HostLaunchPlan {
  std::string program;  ///< path
  char* const* words = nullptr;
  std::string host;  ///< for messages
  /// As in LaunchPlan.
  std::string wrapper;
  bool may_have_no_ranks = false;  ///< A wrapper without an MPI program below it is no error.
  /// Whether this process reports what concerns all processes.
  bool is_first = true;
  /// Started by MPICH's launcher.
  bool has_hydra = false;
  /// Started by Open MPI's launcher.
  bool has_sleepy_daemon = false;
  /// As in LaunchPlan.
  std::string report_file;
  /// The processes of the job are to be equal, so that ranks may move between them; with these
  /// bytes, if there are any.
  bool is_equal = false;
  std::optional<RandomBytes> random;
  /// As in LaunchPlan.
  std::function<void()> on_start;
  std::function<void()> on_end_request;
  /// Called when the process has ended: its number, the number of processes, and whether it has
  /// failed. Returns the exit status in the place of the process's; 0: that stays.
  std::function<int(std::uint32_t process, std::uint32_t process_count, bool has_failed)> on_end;
  /// Called in the child, before the program is executed.
  std::function<void(int status_descriptor)> set_environment;
};

/// The exit status of the process. Does not return when a signal has killed it.
[[nodiscard]] int launch_under_host(const HostLaunchPlan& plan);

}  // namespace sorrel::tool
