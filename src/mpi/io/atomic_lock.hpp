//! AtomicLock - an access in atomic mode excludes others to the same file: of ranks of this process
//! by a flag, of other processes by a lock of the system.
//!
//! A rank that finds it held asks again, each time after a longer pause, while its worker runs
//! other ranks.
#pragma once

#include "mpi/io/access.hpp"

namespace sorrel::mpi {

class AtomicLock {
 public:
  AtomicLock() = default;
  ~AtomicLock();
  AtomicLock(const AtomicLock&) = delete;
  AtomicLock& operator=(const AtomicLock&) = delete;

  /// Locks the range of the access. MPI_ERR_IO where the file system has no locks. May suspend.
  [[nodiscard]] int lock(File& file, const FileAccess& access);

 private:
  FileShared* shared_ = nullptr;
  os::FileRange range_{};
};

}  // namespace sorrel::mpi
