//! ProcFiles - what the system shows of processes and their threads below /proc.
//!
//! A process may end at any time: then there is nothing, or an empty text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace sorrel::tool {

struct ProcessFacts {
  pid_t pid = 0;
  pid_t parent = 0;
  uid_t user = 0;
  /// 'R', 'S', 'D', 'T' (stopped), 'Z' and so on.
  char state = '?';
  double age_seconds = 0;
  double cpu_seconds = 0;
  std::uint64_t resident_bytes = 0;
};

struct ThreadFacts {
  /// On which it has run last.
  int cpu = -1;
  std::int64_t run_ns = 0;
  /// How often it has got a core.
  std::int64_t slice_count = 0;
};

/// Ascending.
[[nodiscard]] std::vector<pid_t> all_processes();

[[nodiscard]] std::optional<ProcessFacts> facts_of(pid_t pid);

[[nodiscard]] std::optional<ThreadFacts> thread_facts_of(pid_t pid, pid_t thread);

/// Whether the thread has blocked the signal.
[[nodiscard]] bool has_blocked(pid_t pid, pid_t thread, int signal_number);

/// The initial environment, each setting with a null character behind it; empty if it may not be
/// read.
[[nodiscard]] std::string environment_of(pid_t pid);

/// The program and its arguments as they are now.
[[nodiscard]] std::vector<std::string> words_of(pid_t pid);

/// Whether the process numbers processes as this one does.
[[nodiscard]] bool is_in_own_pid_namespace(pid_t pid);

}  // namespace sorrel::tool
