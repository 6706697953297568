//! StopAction - what happens while all workers of a process are stopped
//! (Scheduler::request_stop()).
#pragma once

namespace sorrel::core {

class Worker;

class StopAction {
 public:
  virtual ~StopAction() = default;

  /// On the thread of some worker, outside of any fiber; no fiber and no other worker runs. May
  /// make fibers of any worker ready.
  virtual void on_stopped() = 0;

  /// Afterwards, on the thread of the requester, outside of any fiber; also if a worker was late
  /// and on_stopped() has not been called.
  virtual void on_resumed(Worker& requester) = 0;
};

}  // namespace sorrel::core
