#include "mpi/rma/passive.hpp"

#include <algorithm>
#include <utility>

#include "mpi/match/wait.hpp"
#include "mpi/rma/device_access.hpp"
#include "mpi/rma/message.hpp"
#include "mpi/rma/target_sync.hpp"

namespace sorrel::mpi {

namespace {

/// Sends a question to a target of another process; `ack` counts the answer.
void ask(Win& win, std::int32_t rank, MessageKind kind, Ack& ack) {
  MessageHead head;
  head.kind = kind;
  head.token = reinterpret_cast<std::uintptr_t>(&ack);
  ++ack.missing_count;
  send_message(win, rank, head, nullptr, nullptr);
}

/// Waits until it has the target's lock. May suspend.
void acquire(Win& win, std::int32_t rank, bool is_exclusive) {
  const WinTarget& target = win.target(rank);
  if (target.is_here) {
    LockWaiter waiter;
    waiter.is_exclusive = is_exclusive;
    waiter.origin = win.rank;
    WinWait wait(win);
    waiter.here = &wait;
    if (!lock_or_wait(*target.window, waiter)) suspend_for(wait, waiter.blocked_by);
    return;
  }
  Ack ack(win);
  ask(win, rank, is_exclusive ? MessageKind::lock_exclusive : MessageKind::lock_shared, ack);
  (void)wait_for_answers(ack, rank);
}

void forget_dirty(Win& win, std::int32_t rank) {
  if (!win.has_bits(rank, Win::is_dirty)) return;
  win.bits_of(rank) &= static_cast<std::uint8_t>(~Win::is_dirty);
  std::erase(win.dirty_targets, rank);
}

/// Ends the lock of a target of which all operations are complete, or will be when `ack` is.
void begin_release(Win& win, std::int32_t rank, Ack& ack) {
  const WinTarget& target = win.target(rank);
  const bool is_locked = win.has_bits(rank, Win::locked);
  if (!target.is_here) {
    if (is_locked) {
      ask(win, rank, MessageKind::unlock, ack);
    } else if (win.has_bits(rank, Win::is_dirty)) {
      ask(win, rank, MessageKind::flush, ack);
    }
    forget_dirty(win, rank);
  } else if (is_locked) {
    release_lock(*target.window);
  }
  win.bits_of(rank) &= static_cast<std::uint8_t>(~(Win::locked | Win::unchecked));
}

/// Programs poll with these calls: now and then, other ranks of the worker run.
void give_way(Win& win) {
  constexpr std::uint32_t calls_per_yield = 8;
  if (++win.poll_count % calls_per_yield == 0) make_progress(*win.owner);
}

int fail_not_passive(const Win& win) {
  return win.owner->fail(MPI_ERR_RMA_SYNC, "the window is not locked");
}

}  // namespace

int lock(Win& win, std::int32_t rank, LockArguments arguments) {
  RankState& self = *win.owner;
  if (win.access != Win::Access::lock && !win.may_begin_access())
    return self.fail(MPI_ERR_RMA_SYNC, "another access epoch of the window is open");
  if (win.is_exposed) return self.fail(MPI_ERR_RMA_SYNC, "the window is exposed by MPI_Win_post");
  if (rank == MPI_PROC_NULL) {
    win.access = Win::Access::lock;
    ++win.null_lock_count;
    return MPI_SUCCESS;
  }
  if (win.has_bits(rank, Win::locked | Win::unchecked))
    return self.fail(MPI_ERR_RMA_SYNC, "rank %d is locked by this rank", rank);
  win.access = Win::Access::lock;
  if (!arguments.is_unchecked) acquire(win, rank, arguments.is_exclusive);
  win.bits_of(rank) |= arguments.is_unchecked ? Win::unchecked : Win::locked;
  ++win.lock_count;
  return MPI_SUCCESS;
}

int unlock(Win& win, std::int32_t rank) {
  int error = MPI_SUCCESS;
  if (win.access != Win::Access::lock) return fail_not_passive(win);
  if (rank == MPI_PROC_NULL) {
    if (win.null_lock_count == 0) return fail_not_passive(win);
    --win.null_lock_count;
  } else {
    if (!win.has_bits(rank, Win::locked | Win::unchecked))
      return win.owner->fail(MPI_ERR_RMA_SYNC, "rank %d is not locked by this rank", rank);
    finish_device_copies(win);
    Ack ack(win);
    begin_release(win, rank, ack);
    error = wait_for_answers(ack, rank);
    --win.lock_count;
  }
  if (win.lock_count + win.null_lock_count == 0) win.access = Win::Access::none;
  give_way(win);
  return take_error(win, error);
}

void lock_under_lock_all(Win& win, std::int32_t rank) {
  if (!win.is_lock_all_unchecked) acquire(win, rank, false);
  win.bits_of(rank) |= win.is_lock_all_unchecked ? Win::unchecked : Win::locked;
  win.locked_targets.push_back(rank);
}

int lock_all(Win& win, bool is_unchecked) {
  if (!win.may_begin_access())
    return win.owner->fail(MPI_ERR_RMA_SYNC, "another access epoch of the window is open");
  if (win.is_exposed)
    return win.owner->fail(MPI_ERR_RMA_SYNC, "the window is exposed by MPI_Win_post");
  win.access = Win::Access::lock_all;
  win.is_lock_all_unchecked = is_unchecked;
  if (win.shared->flavor() == MPI_WIN_FLAVOR_SHARED) {
    for (std::int32_t rank = 0; rank < win.size(); ++rank)
      lock_under_lock_all(win, rank);
  } else {
    lock_under_lock_all(win, win.rank);
  }
  return MPI_SUCCESS;
}

int unlock_all(Win& win) {
  if (win.access != Win::Access::lock_all) return fail_not_passive(win);
  finish_device_copies(win);
  Ack ack(win);
  for (const std::int32_t rank : win.locked_targets)
    begin_release(win, rank, ack);
  win.locked_targets.clear();
  const int error = wait_for_answers(ack, MPI_UNDEFINED);
  win.access = Win::Access::none;
  give_way(win);
  return take_error(win, error);
}

int flush(Win& win, std::int32_t rank) {
  if (!win.is_in_passive_epoch()) return fail_not_passive(win);
  if (rank == MPI_PROC_NULL) return MPI_SUCCESS;
  if (win.access == Win::Access::lock && !win.has_bits(rank, Win::locked | Win::unchecked))
    return win.owner->fail(MPI_ERR_RMA_SYNC, "rank %d is not locked by this rank", rank);
  int error = MPI_SUCCESS;
  finish_device_copies(win);
  if (win.has_bits(rank, Win::is_dirty)) {
    Ack ack(win);
    ask(win, rank, MessageKind::flush, ack);
    forget_dirty(win, rank);
    error = wait_for_answers(ack, rank);
  }
  give_way(win);
  return take_error(win, error);
}

int flush_all(Win& win) {
  if (!win.is_in_passive_epoch()) return fail_not_passive(win);
  const int error = flush_messages(win);
  give_way(win);
  return error;
}

void finish_device_copies(Win& win) {
  if (win.device_copies.empty()) [[likely]]
    return;
  const int error = finish_within_device(std::exchange(win.device_copies, {}));
  if (win.late_error == MPI_SUCCESS) win.late_error = error;
}

int flush_messages(Win& win) {
  finish_device_copies(win);
  if (win.dirty_targets.empty()) return take_error(win, MPI_SUCCESS);
  Ack ack(win);
  for (const std::int32_t rank : std::exchange(win.dirty_targets, {})) {
    win.bits_of(rank) &= static_cast<std::uint8_t>(~Win::is_dirty);
    ask(win, rank, MessageKind::flush, ack);
  }
  return take_error(win, wait_for_answers(ack, MPI_UNDEFINED));
}

int take_error(Win& win, int error) {
  const int late_error = std::exchange(win.late_error, MPI_SUCCESS);
  if (error == MPI_SUCCESS) error = late_error;
  if (error == MPI_SUCCESS) return MPI_SUCCESS;
  return win.owner->fail(
      error, "an operation that was called before: %s",
      error == MPI_ERR_RMA_RANGE ? "its memory is not in the window" : text_of_device_error(error));
}

int sync(Win& win) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  make_progress(*win.owner);
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
