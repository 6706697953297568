//! EqualProcesses - processes of a job whose libraries lie at the same addresses, and whose stack
//! protector and pointer guard have the same values. A stack or a jump buffer of one process is
//! then valid in another one.
//!
//! The child asks for addresses without randomization and to be traced. It stops once, after the
//! kernel has loaded the program and before its first instruction; the launcher then writes the
//! job's random bytes over those that the kernel has chosen for the process (AT_RANDOM), from which
//! the loader makes both values, and traces it no longer. Where tracing is forbidden, or another
//! process traces, processes differ.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <sys/types.h>

#include "tools/sorrel/common/host.hpp"

namespace sorrel::tool {

using RandomBytes = std::array<std::uint8_t, 16>;

/// Random bytes of the kernel; nothing if it has none.
[[nodiscard]] std::optional<RandomBytes> make_random_bytes();

/// Equal bytes in all processes of a job under a host MPI, which cannot agree before they run: made
/// of what its launcher calls the job. `parent_words`: the command line of the parent, with zero
/// bytes between the words. Pure; nothing if neither names the job.
[[nodiscard]] std::optional<RandomBytes> random_bytes_of_job(const Environment& environment,
                                                             std::string_view parent_words);

class EqualProcesses {
 public:
  /// Nothing: processes keep the bytes that the kernel gives them.
  explicit EqualProcesses(const std::optional<RandomBytes>& random) : random_(random) {}

  /// In the child, immediately before execv().
  static void prepare();

  /// A child has stopped: with SIGTRAP, it has loaded the program. It continues, with any other
  /// signal.
  void on_stop(pid_t child, int signal_number) const;

 private:
  std::optional<RandomBytes> random_;
};

}  // namespace sorrel::tool
