#include "mpi/io/atomic_lock.hpp"

#include <cerrno>

#include "mpi/io/disk_error.hpp"
#include "mpi/io/pauses.hpp"

namespace sorrel::mpi {

namespace {

/// Calls try_lock() until it succeeds or fails for another reason than a holder.
template <class TryLock>
int wait_for(RankState& self, TryLock&& try_lock) {
  int error = EAGAIN;
  sleep_until(self, {.first_ns = 2'000, .last_ns = 200'000, .growth_divisor = 1}, [&] {
    error = try_lock();
    return error != EAGAIN;
  });
  return error;
}

}  // namespace

int AtomicLock::lock(File& file, const FileAccess& access) {
  RankState& self = *file.owner;
  FileShared& shared = *file.shared;
  const os::FileRange range{.begin = file.view.offset_of(access.position),
                            .end = file.view.offset_of(access.end() - 1) + 1};
  (void)wait_for(self, [&] {
    // Acquire: pairs with the release of the holder before.
    return shared.is_locked.exchange(true, std::memory_order_acquire) ? EAGAIN : 0;
  });
  const auto kind =
      access.is_write ? os::DiskFile::LockKind::exclusive : os::DiskFile::LockKind::shared;
  const int number = wait_for(self, [&] { return shared.disk.try_lock(range, kind); });
  if (number != 0) {
    shared.is_locked.store(false, std::memory_order_release);
    return fail_disk(self, "locking", shared.path.c_str(), number);
  }
  shared_ = &shared;
  range_ = range;
  return MPI_SUCCESS;
}

AtomicLock::~AtomicLock() {
  if (shared_ == nullptr) return;
  (void)shared_->disk.unlock(range_);
  // Release: pairs with the acquire of the next holder.
  shared_->is_locked.store(false, std::memory_order_release);
}

}  // namespace sorrel::mpi
