//! LockFile - a file that one process at a time holds, together with the processes that inherit it.
//!
//! The system releases it when the last of them has ended, however that was (flock). The descriptor
//! survives exec; os::keep_from_programs() ends that. Errors are numbers of errno; 0 is success.
#pragma once

#include <string>

namespace sorrel::os {

class LockFile {
 public:
  LockFile() = default;
  /// Leaves the descriptor open: only the end of the process releases the lock.
  ~LockFile() = default;
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  /// Takes it, and writes this process into it. The file is made if it is missing, for this user
  /// only. EWOULDBLOCK: others hold it. While the process that has taken it is dead, its last
  /// children may still end: then this call waits for them, 10 seconds at most. ENOLCK: the file
  /// system has no locks, and nothing is held. Blocks the thread.
  [[nodiscard]] int take(const std::string& path);

  /// After EWOULDBLOCK: the process that has taken it, as "process 1234 on host".
  [[nodiscard]] const std::string& holder() const { return holder_; }

  /// The descriptor of the lock; -1: the lock is not held.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
  std::string holder_;
};

}  // namespace sorrel::os
