//! Launch - starts the processes of a job, stays as their parent, and ends all if one fails.
//!
//! The processes share an unnamed memory segment (os/shared_segment.hpp). The system kills each
//! process when this one dies, for whatever reason. All processes are ended if one is killed by a
//! signal, or if one ends the job (core/job_memory.hpp). Signals to this process are forwarded.
//! Returns when the last process, and every process left behind by one, has ended. A job that can
//! go on from a checkpoint is started again before, if one of its processes was killed.
//!
//! Below a wrapper the program is not a child of this process. Its entry in the job's claims
//! (launch/job_claims.hpp) shows whether it has started and whether it is alive.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/job_memory.hpp"
#include "tools/sorrel/run/equal_process.hpp"

namespace sorrel::tool {

/// One of the programs of a job.
struct LaunchedProgram {
  std::string path;
  char* const* words = nullptr;
  /// Name of a program without MPI, which may start the MPI program, as env does; "" if there is
  /// none. It may end before or after the MPI program, and may start none.
  std::string wrapper;
  bool has_no_ranks = false;  ///< The wrapper starts no programs.
  /// The wrapper's arguments name an MPI program.
  bool is_mpi_seen = false;
};

struct LaunchedProcess {
  const LaunchedProgram* program = nullptr;
  std::uint64_t first_rank = 0;
  std::uint64_t rank_count = 1;
  /// What each line of its output begins with; "": the process labels its lines itself, or not.
  std::string label;
};

struct LaunchPlan {
  std::uint64_t rank_count = 1;
  /// The user has asked for this number of ranks.
  bool is_count_requested = false;
  core::JobShape shape;
  std::vector<LaunchedProcess> processes;
  /// What makes several processes, or those of several starts, equal (equal_process.hpp).
  std::optional<RandomBytes> random;
  /// The job may be saved and restarted: one process is made equal, too.
  bool is_saved = false;
  /// For what ends the job (report/report_file.hpp); "": none.
  std::string report_file;
  /// The signals that the programs block at first.
  sigset_t mask{};
  /// Called in the child, before the program is executed: sets the environment of process
  /// `index`. `claims_descriptor` is that of launch::JobClaims, -1 without a wrapper.
  std::function<void(std::uint32_t index, int segment_descriptor, int claims_descriptor)>
      set_environment;
  /// Called when this signal, sent by neither the job nor this process, has killed a process, and
  /// none is left: after how many nanoseconds all are started again. Nothing, or empty: they are
  /// not.
  std::function<std::optional<std::int64_t>(int signal)> restarts;
  /// Called when the processes have been started.
  std::function<void()> on_start;
  /// Called when this process gets the first SIGTERM, before the job's processes get it.
  std::function<void()> on_end_request;
  /// Called when the last process has ended, before launch() returns or dies of a signal.
  std::function<void()> on_end;
};

/// The exit status of the job: the largest of its processes, or that of the process that ended
/// it.
[[nodiscard]] int launch(const LaunchPlan& plan);

}  // namespace sorrel::tool
