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
#include <cstddef>
#include <sys/types.h>

namespace sorrel::tool {

class EqualProcesses {
 public:
  EqualProcesses();

  /// In the child, immediately before execv().
  static void prepare();

  /// A child has stopped: with SIGTRAP, it has loaded the program. It continues, with any other
  /// signal.
  void on_stop(pid_t child, int signal_number) const;

 private:
  std::array<std::byte, 16> random_{};
  bool is_valid_;
};

}  // namespace sorrel::tool
