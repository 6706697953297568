//! Notice - a piece of news that one worker has for another and that carries its own memory.
//!
//! The news lives in whatever caused it (a request, a collective's slot), so that posting it never
//! allocates and never fails: a notice that finds the mailbox full waits in its sender's deferred
//! list (core/worker.hpp).
#pragma once

namespace sorrel::core {

class Worker;

struct Notice {
  /// Runs on the receiving worker, outside of any fiber: must not suspend. May post and reuse the
  /// notice.
  void (*run)(Worker& receiver, Notice& notice);
  /// The deferred list of the sending worker.
  Notice* next;
};

}  // namespace sorrel::core
