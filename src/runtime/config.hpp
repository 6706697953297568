//! Config - what `sorrel run` decided for this job, handed over in the environment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/job_memory.hpp"
#include "loop/team/settings.hpp"
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
  /// Of each process the first worker has all ranks and is there for messages.
  bool has_comm_worker = false;
  /// CPU number of each worker; empty: not bound.
  std::vector<int> cpus;

  /// How many of a process's workers have ranks.
  [[nodiscard]] std::uint32_t rank_worker_count() const {
    return has_comm_worker ? 1 : worker_count;
  }

  /// Of each rank; 0: os::default_stack_bytes(), or less where addresses are short.
  std::size_t stack_bytes = 0;
  bool has_rank_labels = false;
  /// Says on standard error what it finds out about the job's ranks.
  bool is_verbose = false;
  /// How long idle workers spin before they sleep; -1: the scheduler's own bound.
  std::int64_t spin_ns_max = -1;
  /// Up to which size messages are copied before they are asked for; 0: mpi's own bound.
  std::uint32_t eager_bytes_max = 0;
  /// Whether long messages may be read from another process's memory where the system allows it.
  bool may_pull = true;
  /// Libraries that ranks of one process may share by the user's word.
  std::vector<std::string> shared_libraries;
  /// How loops share the machine with other jobs: the environment's words, read while
  /// SORREL_SHARE was still there.
  loop::Settings loops;
  /// Shared by the job's processes, or under a host MPI by those of this node, for as long as this
  /// one lives; null for a job of one, and where all packets go over the host.
  core::JobMemory* memory = nullptr;
  /// Which of those that share it this is.
  std::uint32_t process_in_memory = 0;
  /// Pretend nodes; `node_count` 0: none. Of a job of one process.
  transport::WireOptions wire{.node_count = 0};
  /// Makes the schedule a function of this number. Of a job of one worker.
  std::optional<std::uint64_t> seed;
  /// What carries packets between processes of several nodes; null without a host MPI.
  transport::HostJob* host = nullptr;
  /// Every rank is a process: the program runs as it is, and MPI_Init makes its thread the rank.
  bool in_place = false;
  /// The parent of the job's processes, of which this one is a child or a remoter descendant; 0: no
  /// such parent.
  pid_t launcher = 0;
  WrappedJob wrapped;
};

/// Reads the SORREL_* variables and removes them, so that children of the program start clean. A
/// program started without `sorrel run` is a job of one rank, and so is one that runs with other
/// rights than its caller (AT_SECURE). Ends the process, with one line, when the variables are not
/// those of one `sorrel run`, or when the job cannot be joined.
Config take_config_from_environment();

/// What the first call took from the environment. Any thread, but the first call is the process's
/// first thread's.
const Config& process_config();

}  // namespace sorrel::runtime
