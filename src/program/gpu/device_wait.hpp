//! Waits of ranks for work of a device: while a rank waits, its worker runs others, and asks the
//! driver from time to time.
//!
//! Each worker has a list of its waits and timers (core/timer.hpp). A run of a timer asks for a few
//! of them, in turn: a question costs the driver about 1 us. The pause until the next run is a part
//! of the time that the youngest has waited. A wait that lasts puts a function behind the work in
//! its stream (cuLaunchHostFunc), which wakes the worker; until then the worker sleeps. README.md
//! has the protocol.
#pragma once

#include "program/gpu/driver_api.hpp"

namespace sorrel::core {
class Worker;
}  // namespace sorrel::core

namespace sorrel::program {
class RankProcess;
struct OutsideWait;
}  // namespace sorrel::program

namespace sorrel::program::gpu {

class RankStreams;

/// What a rank waits for: all that a stream has, or an event. With both: the event, which is in
/// that stream.
struct Awaited {
  Stream stream = nullptr;
  Event event = nullptr;
  /// In which the driver is asked; null: that of the caller.
  Context context = nullptr;
};

/// Waits for `awaited`, in the driver's function that `wait`, a constant, names. `process`: the
/// rank, if it may wait while its worker runs others (process_that_may_wait()); else null, and the
/// driver's own function waits. May suspend.
Result wait_for(RankProcess* process, const Awaited& awaited, const OutsideWait& wait);

/// Called once, outside of fibers, on the worker that has called end_later(). Must not suspend.
class WaitEnd {
 public:
  virtual void end(const Awaited& awaited, Result result) = 0;

 protected:
  ~WaitEnd() = default;
};

/// A wait of no rank: has `end` called when `awaited` is over, of which the context is set.
/// `streams`: of the rank that has the stream. Both live as long. On the thread of a worker. Never
/// suspends.
void end_later(const Awaited& awaited, RankStreams& streams, WaitEnd& end);

/// On the thread of `worker`, outside of fibers, after it was woken: asks for all of its waits.
void poll_waits(core::Worker& worker);

}  // namespace sorrel::program::gpu
