//! ThreadRights - what a thread of this process may do, and where: settings that a program can
//! change, and that a new process does not have.
//!
//! Users, groups, capabilities, filters of system calls, namespaces, the root directory, the
//! personality. From /proc; what cannot be read there is not known, and equal. Blocks the thread
//! for some 50 microseconds.
#pragma once

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace sorrel::os {

class ThreadRights {
 public:
  /// The rights of a thread of this process, by its number, as they are now; none if it has ended.
  [[nodiscard]] static ThreadRights of(pid_t thread);

  /// The first that differs, for a user: "the user (setuid)"; "": none, or the other has ended.
  [[nodiscard]] std::string difference(const ThreadRights& other) const;

 private:
  /// What it is, for a user, and its value as the kernel writes it.
  std::vector<std::pair<const char*, std::string>> values_;
};

}  // namespace sorrel::os
