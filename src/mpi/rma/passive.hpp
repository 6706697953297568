//! Passive target synchronization: lock, unlock, flush (MPI 5.0, 12.5.3 to 12.5.5).
//!
//! The origin's worker, in its fiber. A rank that waits for a lock suspends; the rank that releases
//! it wakes the next one in the queue. Under lock_all() a target is locked at its first operation,
//! but the own memory, and memory that programs access by load and store, at once. Each returns
//! MPI_SUCCESS or an error class, MPI_ERR_RMA_SYNC where no epoch allows the call. All may suspend.
#pragma once

#include "mpi/rma/window.hpp"

namespace sorrel::mpi {

struct LockArguments {
  bool is_exclusive = false;
  /// MPI_MODE_NOCHECK: no conflicting lock is held or awaited.
  bool is_unchecked = false;
};

[[nodiscard]] int lock(Win& win, std::int32_t rank, LockArguments arguments);
[[nodiscard]] int unlock(Win& win, std::int32_t rank);

[[nodiscard]] int lock_all(Win& win, bool is_unchecked);
[[nodiscard]] int unlock_all(Win& win);

/// All operations on the target are complete, here and there.
[[nodiscard]] int flush(Win& win, std::int32_t rank);
[[nodiscard]] int flush_all(Win& win);

/// MPI_Win_sync: also lets other ranks of the worker run, since programs poll with it.
[[nodiscard]] int sync(Win& win);

/// The first operation on a target under lock_all().
void lock_under_lock_all(Win& win, std::int32_t rank);

/// The error of a synchronization: that of its answers, or one that came before. With the text.
[[nodiscard]] int take_error(Win& win, int error);

/// Completes copies within devices: before a target learns that the operations on it are complete.
/// Keeps an error for take_error().
void finish_device_copies(Win& win);

/// Completes the operations on all targets. Returns the first error.
[[nodiscard]] int flush_messages(Win& win);

}  // namespace sorrel::mpi
