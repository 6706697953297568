//! The target's part of synchronization: its lock, the posts and completions that reach it, and
//! errors of other processes' operations.
//!
//! On any worker of the target's process, in a fiber or not; nothing suspends.
#pragma once

#include "mpi/net/send_queue.hpp"
#include "mpi/rma/wait.hpp"

namespace sorrel::mpi {

/// Takes the lock of `target` for a rank of its process; if it is not free, adds `waiter`, and the
/// origin waits (its WinWait is in `waiter`). Returns whether the lock was taken.
[[nodiscard]] bool lock_or_wait(Win& target, LockWaiter& waiter);

/// Takes the lock for a rank of another process, which gets an answer when it has the lock.
void lock_for_remote(
    Win& target, bool is_exclusive, std::int32_t origin, Endpoint from, std::uint64_t token);

/// A holder leaves; the next ones get the lock and are woken.
void release_lock(Win& target);

/// A rank of the window has posted: this one may access its memory.
void record_post(Win& origin, std::int32_t poster);

/// Before MPI_Win_start waits: counts the members of a group that have not posted. True if all
/// have; else `wait` is ended when the last one has.
[[nodiscard]] bool take_posts(Win& origin, const std::vector<std::int32_t>& group, WinWait& wait);

/// One origin has completed its access epoch.
void record_complete(Win& target);

/// Keeps an error for the origin's next synchronization.
void record_failure(Win& target, std::int32_t origin, int error);

/// The error to report to the origin, or MPI_SUCCESS.
[[nodiscard]] int take_failure(Win& target, std::int32_t origin);

/// Answers a question of another process.
void post_ack(SendQueue& send_queue, Endpoint to, std::uint64_t token, int error);

/// The values of MPI_Compare_and_swap.
struct SwapValues {
  const void* origin;
  const void* compare;
  void* result;  ///< may be `compare`
};

/// Replaces the value of `bytes` bytes if it is the expected one; `result` gets the old value.
void compare_and_swap_in(SpinLock& lock,
                         std::byte* address,
                         const SwapValues& values,
                         std::size_t bytes);

}  // namespace sorrel::mpi
