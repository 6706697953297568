//! Profile - the time of a job's ranks by place: made of the parts of a trace.
//!
//! The time of each worker is divided: it runs a rank outside of MPI (*computes*, the loops and
//! tasks with which it helps included), or in MPI, or it is *idle*. A worker without a thread is
//! idle. The three add up to the time of the job.
//!
//! A rank *waits* while its call of MPI is not on a core, so a wait includes the time in which the
//! rank was ready and its worker ran other ranks. *Transfer* is the rest of the time in calls of
//! MPI: matching, copying, switching. Bytes are those of the messages that a call has sent;
//! collectives within a process send none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <sorrel/result.hpp>

#include "tools/sorrel/trace/thread_use.hpp"

namespace sorrel::tool {

struct CallProfile {
  std::uint64_t count = 0;
  std::int64_t ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t shortest_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest_ns = 0;
  std::uint64_t message_count = 0;
  std::uint64_t bytes = 0;
  /// The rank with the most time here, and its time.
  std::int32_t rank_most = -1;
  std::int64_t rank_most_ns = 0;
};

struct RankProfile {
  std::int64_t compute_ns = 0;   ///< on a core, outside of MPI
  std::int64_t transfer_ns = 0;  ///< on a core, in MPI
  std::int64_t wait_ns = 0;      ///< in MPI
  /// The part of wait_ns during which its worker ran other ranks.
  std::int64_t hidden_ns = 0;
};

struct WorkerProfile {
  std::uint32_t process = 0;
  std::uint32_t worker = 0;
  std::int64_t compute_ns = 0;  ///< of ranks, and of loops and tasks with which it helps
  std::int64_t transfer_ns = 0;
  std::int64_t idle_ns = 0;  ///< the rest of the time of the job
  std::int64_t away_ns = 0;  ///< the part of it without a thread
};

struct Profile {
  /// Messages of less than 2^(k+1) bytes, and at least 2^k; the first also the empty ones.
  using Sizes = std::array<std::uint64_t, 41>;

  std::int64_t elapsed_ns = 0;
  /// By function and place.
  std::map<std::pair<std::string, std::string>, CallProfile> calls;
  std::map<std::int32_t, RankProfile> ranks;
  std::vector<WorkerProfile> workers;
  ThreadUse use;
  Sizes message_sizes{};
  std::vector<std::string> warnings;
};

/// The profile of the parts in a folder.
[[nodiscard]] Result<Profile> read_profile(const std::string& folder);

/// As a table for people, with the `row_count_max` places that take the most time. Where a number
/// is a mean, or of all workers, the least and the most that it is made of stand beside it.
[[nodiscard]] std::string table_of(const Profile& profile, std::size_t row_count_max);

/// As one line, without its end.
[[nodiscard]] std::string summary_of(const Profile& profile);

/// All of it.
[[nodiscard]] std::string json_text_of(const Profile& profile);

}  // namespace sorrel::tool
