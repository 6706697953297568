//! Notice - a piece of news that one worker has for another and that carries its own memory.
//!
//! The news lives in whatever caused it (a request, a collective's slot), so that posting it never
//! allocates and never fails: a notice that finds the mailbox full waits in its sender's deferred
//! list (core/worker.hpp).
#pragma once

#include <cstddef>

namespace sorrel::core {

class Worker;
struct Record;

struct Notice {
  /// Runs on the receiving worker, outside of any fiber: must not suspend. May post and reuse the
  /// notice.
  void (*run)(Worker& receiver, Notice& notice);
  /// The deferred list of the sending worker.
  Notice* next;
};

/// The runner of records that carry a notice.
void run_notice(Worker& receiver, const Record& record, const std::byte* payload);

}  // namespace sorrel::core
