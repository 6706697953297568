//! Waits in calls on a window, and what ends them.
//!
//! A rank waits for one thing at a time, so one completion and one remote call for each view
//! suffice. The rank resets the completion and publishes, under a lock or by a message, that it
//! waits; the side that ends the wait calls wake() once.
#pragma once

#include "mpi/rma/window.hpp"

namespace sorrel::mpi {

/// After the wait was published: suspends until wake(). `peer` is the rank of the window that the
/// report of a deadlock names, or MPI_UNDEFINED. May suspend.
inline void suspend_for(WinWait& wait, std::int32_t peer) {
  RankState& self = *wait.window.owner;
  SORREL_ASSERT(is_on_worker_of(self) && self.worker->running().user == &self);
  if (wait.is_over.is_done()) return;
  const RankWait recorded(self, WaitRecord::Kind::window, wait.window.comm, {.peer = peer});
  wait.is_over.wait(*self.worker);
}

/// On any worker of the process, once: ends the wait, which must not be accessed any more. Never
/// suspends.
inline void wake(WinWait& wait) {
  core::Worker& here = *core::Worker::current();
  core::Worker& owner_worker = *wait.window.owner->worker;
  if (&here == &owner_worker) {
    wait.is_over.complete(here);
    return;
  }
  wait.run = [](core::Worker& worker, core::RemoteCall& call) {
    static_cast<WinWait&>(call).is_over.complete(worker);
  };
  here.post(owner_worker, wait);
}

}  // namespace sorrel::mpi
