//! Config - the settings of the job in this process: those that `sorrel run` passes on
//! (launch/job_spec.hpp), those that users may set in the environment, and what follows from both.
//! Plain data; process_config.hpp makes it.
#pragma once

#include <cstdint>
#include <optional>

#include "core/job_memory.hpp"
#include "governor/settings.hpp"
#include "launch/job_spec.hpp"
#include "launch/split_job.hpp"

namespace sorrel::transport {
struct HostJob;
}

namespace sorrel::launch {
struct JobClaims;
}

namespace sorrel::runtime {

/// The job as it was launched, and what this process has made of it.
struct Config : launch::JobSpec {
  /// The number of workers of a process that have ranks.
  [[nodiscard]] std::uint32_t rank_worker_count() const {
    return has_comm_worker ? 1 : worker_count;
  }

  /// Whether all ranks may wait at once: to be saved, or to change their process.
  [[nodiscard]] bool has_safepoints() const { return moves_between || is_saved(); }

  /// Whether all processes of the job share memory.
  [[nodiscard]] bool is_all_near() const { return memory != nullptr && !memory->shape().is_part; }

  /// Whether `sorrel run` has launched this process; otherwise it is a job of one rank.
  bool is_launched = false;
  /// Without `sorrel run`: the process is one of several that another launcher has started.
  launch::Launched launched;
  /// Whether `sorrel run` has a flight recorder, which looks into the job before SIGTERM ends it.
  bool has_recorder = false;
  /// Whether long messages may be read from another process's memory where the system allows it.
  bool may_pull = true;
  /// Whether processes of one node may share memory under a host MPI.
  bool may_share_memory = true;
  /// How loops share the machine with other jobs: the environment's settings, read while
  /// SORREL_SHARE was still set.
  governor::Settings loops;
  /// Shared by the job's processes, or under a host MPI by those of this node, as long as this one
  /// exists. Null for a job of one process, and if the host MPI carries all packets.
  core::JobMemory* memory = nullptr;
  /// The index of this process among those that share the memory.
  std::uint32_t process_in_memory = 0;
  /// For tests: ranks change their worker at random, whenever all are in one collective.
  std::optional<std::uint64_t> shuffle_seed;
  /// How long idle workers spin at most before they sleep; nothing: the scheduler's own bound.
  std::optional<std::int64_t> spin_ns_max;
  /// For tests, where ranks change their process: they do so at random, and their memory is
  /// compared; and they change their worker at random.
  std::optional<std::uint64_t> move_seed;
  /// For tests, with --balance auto: it begins though the job is not uneven.
  bool begins_balance_at_once = false;
  /// Carries packets between processes of several nodes; null without a host MPI.
  transport::HostJob* host = nullptr;
  /// Shared with the launcher; null without a wrapper and under a host MPI.
  launch::JobClaims* claims = nullptr;
};

}  // namespace sorrel::runtime
