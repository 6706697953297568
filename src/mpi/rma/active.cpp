#include "mpi/rma/active.hpp"

#include <utility>
#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/match/wait.hpp"
#include "mpi/rma/message.hpp"
#include "mpi/rma/passive.hpp"
#include "mpi/rma/target_sync.hpp"

namespace sorrel::mpi {

namespace {

/// The ranks of a group in the window, or MPI_ERR_GROUP.
int find_members(const Win& win, const Group& group, std::vector<std::int32_t>* members) {
  const Group& all = *win.comm->shared->group();
  for (std::int32_t i = 0; i < group.size(); ++i) {
    const std::int32_t member = all.rank_of(group.world_rank(i));
    if (member == MPI_UNDEFINED)
      return win.owner->fail(
          MPI_ERR_GROUP,
          "rank %d of group is not in the window; group must be a subset of its group", i);
    members->push_back(member);
  }
  return MPI_SUCCESS;
}

/// The one rank that is waited for, for reports.
std::int32_t only_member(const std::vector<std::int32_t>& members) {
  return members.size() == 1 ? members.front() : MPI_UNDEFINED;
}

}  // namespace

int fence(Win& win, int assertion) {
  if (win.is_in_passive_epoch() || win.access == Win::Access::start)
    return win.owner->fail(MPI_ERR_RMA_SYNC, "another access epoch of the window is open");
  if (win.is_exposed)
    return win.owner->fail(MPI_ERR_RMA_SYNC, "the window is exposed by MPI_Win_post");
  const int error = flush_messages(win);
  win.comm->call = CollectiveCall({.kind = CollectiveKind::win_fence});
  if (const int mismatch = barrier({*win.owner, *win.comm}); mismatch != MPI_SUCCESS)
    return mismatch;
  win.is_fence_used = false;
  win.access = (assertion & MPI_MODE_NOSUCCEED) != 0 ? Win::Access::none : Win::Access::fence;
  return error;
}

int post(Win& win, const Group& group) {
  if (win.is_exposed)
    return win.owner->fail(MPI_ERR_RMA_SYNC, "the window is exposed by another MPI_Win_post");
  if (win.is_in_passive_epoch() || (win.access == Win::Access::fence && win.is_fence_used))
    return win.owner->fail(MPI_ERR_RMA_SYNC, "another epoch of the window is open");
  std::vector<std::int32_t> origins;
  if (const int error = find_members(win, group, &origins); error != MPI_SUCCESS) return error;
  if (win.access == Win::Access::fence) win.access = Win::Access::none;
  win.is_exposed = true;
  win.sync_lock.lock();
  SORREL_ASSERT(win.missing_complete_count == 0, "the last exposure epoch has not ended");
  win.missing_complete_count = static_cast<std::int32_t>(origins.size());
  win.exposure_wait = nullptr;
  win.sync_lock.unlock();
  for (const std::int32_t origin : origins) {
    if (win.target(origin).is_here) {
      record_post(*win.target(origin).window, win.rank);
    } else {
      MessageHead head;
      head.kind = MessageKind::post;
      send_message(win, origin, head, nullptr, nullptr);
    }
  }
  return MPI_SUCCESS;
}

int start(Win& win, const Group& group) {
  if (!win.may_begin_access())
    return win.owner->fail(MPI_ERR_RMA_SYNC, "another access epoch of the window is open");
  std::vector<std::int32_t> targets;
  if (const int error = find_members(win, group, &targets); error != MPI_SUCCESS) return error;
  win.access = Win::Access::start;
  for (const std::int32_t target : targets)
    win.bits_of(target) |= Win::in_start_group;
  win.start_group = std::move(targets);
  WinWait wait(win);
  if (!take_posts(win, win.start_group, wait)) suspend_for(wait, only_member(win.start_group));
  return MPI_SUCCESS;
}

int complete_epoch(Win& win) {
  if (win.access != Win::Access::start)
    return win.owner->fail(MPI_ERR_RMA_SYNC, "MPI_Win_start has not been called");
  finish_device_copies(win);
  Ack ack(win);
  for (const std::int32_t target : std::exchange(win.start_group, {})) {
    std::uint8_t& bits = win.bits_of(target);
    if (win.target(target).is_here) {
      record_complete(*win.target(target).window);
    } else {
      MessageHead head;
      head.kind = MessageKind::complete;
      if ((bits & Win::is_dirty) != 0) {
        head.token = reinterpret_cast<std::uintptr_t>(&ack);
        ++ack.missing_count;
      }
      send_message(win, target, head, nullptr, nullptr);
    }
    bits &= static_cast<std::uint8_t>(~(Win::in_start_group | Win::is_dirty));
  }
  win.dirty_targets.clear();
  win.access = Win::Access::none;
  const int error = wait_for_answers(ack, MPI_UNDEFINED);
  return take_error(win, error);
}

int wait_epoch(Win& win) {
  if (!win.is_exposed) return win.owner->fail(MPI_ERR_RMA_SYNC, "MPI_Win_post has not been called");
  WinWait wait(win);
  win.sync_lock.lock();
  const bool is_over = win.missing_complete_count == 0;
  win.exposure_wait = is_over ? nullptr : &wait;
  win.sync_lock.unlock();
  if (!is_over) suspend_for(wait, MPI_UNDEFINED);
  win.is_exposed = false;
  return MPI_SUCCESS;
}

int test_epoch(Win& win, bool* is_complete) {
  if (!win.is_exposed) return win.owner->fail(MPI_ERR_RMA_SYNC, "MPI_Win_post has not been called");
  const auto is_over = [&] {
    win.sync_lock.lock();
    const bool over = win.missing_complete_count == 0;
    win.sync_lock.unlock();
    return over;
  };
  *is_complete = is_over();
  if (!*is_complete) {
    make_progress(*win.owner);
    *is_complete = is_over();
  }
  if (*is_complete) win.is_exposed = false;
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
