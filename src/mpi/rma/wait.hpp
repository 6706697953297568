//! Waits in calls on a window, and what ends them.
//!
//! A rank waits for one thing at a time, so one completion and one remote call for each view
//! suffice. The rank resets the completion and publishes, under a lock or by a message, that it
//! waits; the side that ends the wait calls wake() once.
#pragma once

#include "mpi/rma/window.hpp"

namespace sorrel::mpi {

/// On the rank's worker, before it publishes that it waits.
inline void prepare_wait(Win& win) {
  win.awaited.reset();
}

/// After prepare_wait(): suspends until wake(). `peer` is the rank of the window that the report of
/// a deadlock names, or MPI_UNDEFINED. May suspend.
inline void wait_in_window(Win& win, std::int32_t peer) {
  RankState& self = *win.owner;
  SORREL_ASSERT(is_on_worker_of(self) && &self.worker->running() == &self.fiber);
  if (win.awaited.is_done()) return;
  self.wait.comm = win.comm;
  self.wait_detail = {};
  self.wait_detail.peer = peer;
  self.wait.begin(WaitRecord::Kind::window);
  win.awaited.wait(*self.worker);
  self.wait.end();
}

/// On any worker of the process: ends the wait of the view's rank. Never suspends.
inline void wake(Win& win) {
  core::Worker& here = *core::Worker::current();
  core::Worker& owner_worker = *win.owner->worker;
  if (&here == &owner_worker) {
    win.awaited.complete(here);
    return;
  }
  win.wake.window = &win;
  win.wake.run = [](core::Worker& worker, core::RemoteCall& call) {
    static_cast<Win::Wake&>(call).window->awaited.complete(worker);
  };
  here.post(owner_worker, win.wake);
}

}  // namespace sorrel::mpi
