//! JobClaims - which process below a wrapper (`sorrel run env X=1 ./app`) has become each process
//! of a job.
//!
//! The launcher creates it in a nameless segment whose descriptor the wrapper inherits. The library
//! adopts the segment when the first program that links it starts. The launcher thus notices a
//! wrapper that has ended without such a program, and a claimant that has gone before its wrapper.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <sys/stat.h>

namespace sorrel::runtime {

struct JobClaims {
  /// As many as a job may have processes.
  static constexpr std::uint32_t count_max = 1024;
  /// A claimant in another PID namespace than the launcher.
  static constexpr std::int32_t unknown_pid = -1;

  std::uint64_t pid_namespace = 0;  ///< of the launcher
  /// A claimant has said why it cannot run. Its wrapper may end well nevertheless.
  std::atomic<std::uint32_t> is_refused{0};
  /// By process of the job: the PID of its last claimant, or unknown_pid; 0 = not claimed.
  std::array<std::atomic<std::int32_t>, count_max> pids{};
};

/// A number that two processes have in common if their PIDs mean the same.
[[nodiscard]] inline std::uint64_t own_pid_namespace() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace sorrel::runtime
