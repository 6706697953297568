//! RemoteCall - a callback message from one worker to another that carries its own memory.
//!
//! It lives in the object that causes it (a request, a collective's slot), so posting it never
//! allocates and never fails: if the mailbox is full, it waits in the sender's deferred list
//! (core/worker.hpp). Idea: active messages, von Eicken et al. 1992.
#pragma once

#include <cstddef>

namespace sorrel::core {

class Worker;
struct Record;

struct RemoteCall {
  /// Runs on the receiving worker, outside any fiber: must not suspend. May post and reuse the
  /// call.
  void (*run)(Worker& receiver, RemoteCall& call);
  /// Link of the sending worker's deferred list.
  RemoteCall* next;
};

/// Runner of records that carry a RemoteCall.
void run_remote_call(Worker& receiver, const Record& record, const std::byte* payload);

}  // namespace sorrel::core
