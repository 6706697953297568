//! What holds for the end of every job, whether its processes were started here or by another MPI.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>

namespace sorrel::tool {

/// Signals that processes of the job get when the command gets them.
inline constexpr std::array forwarded_signals = {SIGINT,  SIGTERM, SIGHUP,
                                                 SIGQUIT, SIGUSR1, SIGUSR2};
/// Time that processes get to end after a request.
inline constexpr std::int64_t grace_ns = 1'500'000'000;
/// Time that a wrapper gets to end after the program below it has ended in the middle of MPI.
inline constexpr std::int64_t wrapper_grace_ns = 500'000'000;

}  // namespace sorrel::tool
