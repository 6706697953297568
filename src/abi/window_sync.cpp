// Synchronization of windows. MPI 5.0, 12.5.
#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/rma/active.hpp"
#include "mpi/rma/passive.hpp"

namespace sorrel::abi {
namespace {

using mpi::Win;

int check_assert(RankState& self, int assertion, int allowed) {
  if ((assertion & ~allowed) == 0) return MPI_SUCCESS;
  return self.fail(MPI_ERR_ASSERT, "assert is %d; only some of MPI_MODE_* are allowed here",
                   assertion);
}

int check_target(RankState& self, const Win& win, int rank) {
  if (rank == MPI_PROC_NULL || (rank >= 0 && rank < win.size())) return MPI_SUCCESS;
  return fail_rank(self, "rank", rank, win.size());
}

}  // namespace

namespace body {

int Win_fence(RankState& self, Win& win, int assertion) {
  const int error = check_assert(
      self, assertion, MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED);
  return error != MPI_SUCCESS ? error : mpi::fence(win, assertion);
}

int Win_post(RankState& self, Win& win, const mpi::GroupHandle& group, int assertion) {
  const int error =
      check_assert(self, assertion, MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT);
  return error != MPI_SUCCESS ? error : mpi::post(win, *group);
}

int Win_start(RankState& self, Win& win, const mpi::GroupHandle& group, int assertion) {
  const int error = check_assert(self, assertion, MPI_MODE_NOCHECK);
  return error != MPI_SUCCESS ? error : mpi::start(win, *group);
}

int Win_complete(RankState& /*self*/, Win& win) {
  return mpi::complete_epoch(win);
}

int Win_wait(RankState& /*self*/, Win& win) {
  return mpi::wait_epoch(win);
}

int Win_test(RankState& /*self*/, Win& win, int* flag) {
  bool is_complete = false;
  const int error = mpi::test_epoch(win, &is_complete);
  *flag = is_complete ? 1 : 0;
  return error;
}

int Win_lock(RankState& self, Win& win, int lock_type, int rank, int assertion) {
  if (lock_type != MPI_LOCK_SHARED && lock_type != MPI_LOCK_EXCLUSIVE)
    return self.fail(MPI_ERR_LOCKTYPE,
                     "lock_type is %d; it must be MPI_LOCK_SHARED or MPI_LOCK_EXCLUSIVE",
                     lock_type);
  if (const int error = check_target(self, win, rank); error != MPI_SUCCESS) return error;
  if (const int error = check_assert(self, assertion, MPI_MODE_NOCHECK); error != MPI_SUCCESS)
    return error;
  return mpi::lock(win, rank,
                   {.is_exclusive = lock_type == MPI_LOCK_EXCLUSIVE,
                    .is_unchecked = (assertion & MPI_MODE_NOCHECK) != 0});
}

int Win_unlock(RankState& self, Win& win, int rank) {
  if (const int error = check_target(self, win, rank); error != MPI_SUCCESS) return error;
  return mpi::unlock(win, rank);
}

int Win_lock_all(RankState& self, Win& win, int assertion) {
  if (const int error = check_assert(self, assertion, MPI_MODE_NOCHECK); error != MPI_SUCCESS)
    return error;
  return mpi::lock_all(win, (assertion & MPI_MODE_NOCHECK) != 0);
}

int Win_unlock_all(RankState& /*self*/, Win& win) {
  return mpi::unlock_all(win);
}

int Win_flush(RankState& self, Win& win, int rank) {
  if (const int error = check_target(self, win, rank); error != MPI_SUCCESS) return error;
  return mpi::flush(win, rank);
}

int Win_flush_all(RankState& /*self*/, Win& win) {
  return mpi::flush_all(win);
}

// Complete at the target is more than complete here.
int Win_flush_local(RankState& self, Win& win, int rank) {
  return Win_flush(self, win, rank);
}

int Win_flush_local_all(RankState& /*self*/, Win& win) {
  return mpi::flush_all(win);
}

int Win_sync(RankState& /*self*/, Win& win) {
  return mpi::sync(win);
}

}  // namespace body

}  // namespace sorrel::abi
