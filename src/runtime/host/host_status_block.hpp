//! HostStatusBlock - this process's record of its state for `sorrel run`, its parent, which reports
//! the process when it has died (transport/host/host_status.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "transport/host/host_status.hpp"

namespace sorrel::runtime {

inline constexpr int host_error_status = 1;
inline constexpr int host_usage_error_status = 2;

/// Maps the block. `wrapper`: as in launch::WrapperSpec. Ends the process if a wrapper has closed
/// the descriptor, or has started an MPI program before this one.
void map_host_status(int descriptor, const std::string& wrapper);

/// The members that follow from the number of this process, and the host MPI's segments, for the
/// parent to unlink after a failure. Then the phase is `joined`.
void publish_host_status(std::uint32_t process,
                         std::uint32_t process_count,
                         std::int32_t first_rank,
                         std::int32_t last_rank);

/// Async-signal-safe, as long as another thread does not map the block.
void set_host_phase(transport::HostPhase phase);

/// Ends this process with one line, and the job early.
[[noreturn, gnu::format(printf, 2, 3)]] void end_host_process(int status, const char* format, ...);

}  // namespace sorrel::runtime
