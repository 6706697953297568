//! Config - the settings that `sorrel run` passes to the job in the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/job_memory.hpp"
#include "governor/settings.hpp"
#include "runtime/wrapped_job.hpp"
#include "transport/sim/wire.hpp"

namespace sorrel::transport {
struct HostJob;
}

namespace sorrel::runtime {

struct Config {
  /// Of the whole job.
  std::int32_t rank_count = 1;
  std::uint32_t process_count = 1;
  std::uint32_t own_process = 0;
  /// Of each process.
  std::uint32_t worker_count = 1;
  /// In each process the first worker has all ranks and serves messages only.
  bool has_comm_worker = false;
  /// CPU number of each worker; empty: not bound.
  std::vector<int> cpus;

  /// The number of workers of a process that have ranks.
  [[nodiscard]] std::uint32_t rank_worker_count() const {
    return has_comm_worker ? 1 : worker_count;
  }

  /// Of each rank; 0: os::default_stack_bytes(), or less where addresses are short.
  std::size_t stack_bytes = 0;
  bool has_rank_labels = false;
  /// Reports its decisions about the job's ranks on standard error.
  bool is_verbose = false;
  /// How long idle workers spin before they sleep; -1: the scheduler's own bound.
  std::int64_t spin_ns_max = -1;
  /// Messages up to this size are sent eagerly; 0: mpi's own limit.
  std::uint32_t eager_bytes_max = 0;
  /// Whether long messages may be read from another process's memory where the system allows it.
  bool may_pull = true;
  /// Libraries that the user has declared as shared between ranks of one process.
  std::vector<std::string> shared_libraries;
  /// How loops share the machine with other jobs: the environment's settings, read while
  /// SORREL_SHARE was still set.
  governor::Settings loops;
  /// Shared by the job's processes, or under a host MPI by those of this node, as long as this one
  /// exists. Null for a job of one process, and if the host MPI carries all packets.
  core::JobMemory* memory = nullptr;
  /// The index of this process among those that share the memory.
  std::uint32_t process_in_memory = 0;
  /// Simulated nodes; `node_count` 0: none. For a job of one process.
  transport::WireOptions wire{.node_count = 0};
  /// Makes the schedule a function of this number. For a job of one worker.
  std::optional<std::uint64_t> seed;
  /// Carries packets between processes of several nodes; null without a host MPI.
  transport::HostJob* host = nullptr;
  /// Process mode: every rank is a process, the program runs as it is, and MPI_Init makes the
  /// calling thread the rank.
  bool process_mode = false;
  /// The process that launched the job's processes, an ancestor of this one; 0: none.
  pid_t launcher = 0;
  WrappedJob wrapped;
};

/// Reads the SORREL_* variables and removes them, so that children of the program do not inherit
/// them. A program started without `sorrel run` is a job of one rank, and so is one that runs with
/// other rights than its caller (AT_SECURE). Ends the process with one line if the variables do not
/// come from one `sorrel run`, or if it cannot join the job.
Config take_config_from_environment();

/// The result of the first call of take_config_from_environment(). Any thread, but the process's
/// first thread makes the first call.
const Config& process_config();

}  // namespace sorrel::runtime
