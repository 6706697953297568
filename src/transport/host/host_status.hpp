//! HostStatus - status of a process under a host MPI, written for `sorrel run`, its parent, which
//! reports the process when it has died. Lies in memory that the two share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace sorrel::transport {

enum class HostPhase : std::uint32_t {
  starting,  ///< The host MPI has not started.
  joined,    ///< It has started; the members below are set.
  finished,  ///< The process needs no other process any more.
  ending,    ///< It ends the job early and reports the reason.
};

/// Prefixes of the names of a job's memory in /dev/shm under Open MPI 4 and 5, which stays there
/// when mpirun is killed. (The plugin unlinks MPICH's at the start.)
inline constexpr std::array<std::string_view, 2> host_segment_prefixes = {"vader_segment.",
                                                                          "sm_segment."};

[[nodiscard]] constexpr bool is_host_segment(std::string_view name) {
  for (const std::string_view prefix : host_segment_prefixes) {
    if (name.starts_with(prefix)) return name.find('/') == std::string_view::npos;
  }
  return false;
}

struct HostStatus {
  /// Release by the process, acquire by the parent.
  std::atomic<HostPhase> phase{HostPhase::starting};
  std::uint32_t process = 0;
  std::uint32_t process_count = 1;
  std::int32_t first_rank = 0;
  /// One past the last.
  std::int32_t last_rank = 0;
  /// Names of the host MPI's segments that the process has mapped, each followed by a newline: as
  /// many as fit.
  std::array<char, 4096> segments{};
};

}  // namespace sorrel::transport
