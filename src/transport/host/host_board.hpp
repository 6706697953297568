//! HostBoard - what a process under a host MPI tells `sorrel run`, its parent, so that somebody can
//! say who it was when it is gone. In memory that the two share.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace sorrel::transport {

enum class HostPhase : std::uint32_t {
  starting,  ///< The host MPI has not started.
  joined,    ///< It has; the words below are set.
  finished,  ///< The process needs nobody any more.
  ending,    ///< It ends the job early, and says why.
};

/// What Open MPI 4 and 5 call the memory of a job's processes in /dev/shm, which nobody unlinks
/// when mpirun has been killed. (Of MPICH's the plugin takes the name away at the start.)
inline constexpr std::array<std::string_view, 2> host_segment_prefixes = {"vader_segment.",
                                                                          "sm_segment."};

[[nodiscard]] constexpr bool is_host_segment(std::string_view name) {
  for (const std::string_view prefix : host_segment_prefixes) {
    if (name.starts_with(prefix)) return name.find('/') == std::string_view::npos;
  }
  return false;
}

struct HostBoard {
  /// Release by the process, acquire by the parent.
  std::atomic<HostPhase> phase{HostPhase::starting};
  std::uint32_t process = 0;
  std::uint32_t process_count = 1;
  std::int32_t first_rank = 0;
  /// One behind.
  std::int32_t last_rank = 0;
  /// The host MPI's segments that the process has mapped, each followed by a line's end: as many as
  /// there is room for.
  std::array<char, 4096> segments{};
};

}  // namespace sorrel::transport
