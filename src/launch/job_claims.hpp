//! JobClaims - the process of the job that each process below a wrapper (`sorrel run env X=1
//! ./app`) has become.
//!
//! The launcher creates it in an anonymous segment whose descriptor the wrapper inherits. The first
//! program that links the library maps the segment when it starts. So the launcher can detect a
//! wrapper that ends without such a program, and a claimant that ends before its wrapper.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <sys/stat.h>

namespace sorrel::launch {

struct JobClaims {
  /// The maximal number of processes of a job.
  static constexpr std::uint32_t count_max = 1024;
  /// A claimant in another PID namespace than the launcher.
  static constexpr std::int32_t unknown_pid = -1;

  std::uint64_t pid_namespace = 0;  ///< of the launcher
  /// A claimant has reported that it cannot run; its wrapper may still end with status 0.
  std::atomic<std::uint32_t> has_failed{0};
  /// By process of the job: the PID of its last claimant, or unknown_pid; 0 = not claimed.
  std::array<std::atomic<std::int32_t>, count_max> pids{};
};

/// A number that is equal in two processes if PIDs have the same meaning in both.
[[nodiscard]] inline std::uint64_t own_pid_namespace() {
  struct stat status{};
  return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino : 0;
}

}  // namespace sorrel::launch
