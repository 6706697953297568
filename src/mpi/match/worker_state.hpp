//! WorkerState - the state of a worker for the ranks it runs.
#pragma once

#include <memory>
#include <vector>

#include "core/worker.hpp"
#include "mpi/base/error_detail.hpp"
#include "mpi/match/request_pool.hpp"
#include "mpi/match/sent_count.hpp"

namespace sorrel::mpi {

class EagerWindows;
class OperationPool;
class ProcessBarriers;
struct RmaState;
class SendQueue;
class World;
struct RankState;

/// The state of one worker for its ranks; its own thread only, except `sent`.
struct WorkerState {
  WorkerState();
  ~WorkerState();
  WorkerState(const WorkerState&) = delete;
  WorkerState& operator=(const WorkerState&) = delete;

  World* world = nullptr;
  core::Worker* worker = nullptr;
  SentCount sent;
  /// Changed while all workers are stopped; room for all ranks that may ever be here.
  std::vector<RankState*> ranks;
  RequestPool requests;
  /// Returned by every nonblocking send that completes at once: complete, always active, never
  /// recycled. Not in the pool: it has the same address in each start of a program.
  Request* finished_send = nullptr;
  /// The detail of the error being raised: valid until the next one.
  ErrorDetail error_detail;
  /// Null until the first nonblocking collective.
  std::unique_ptr<OperationPool> operations;
  // Only in a job of several processes; else null.
  std::unique_ptr<SendQueue> send_queue;
  std::unique_ptr<EagerWindows> eager_windows;
  std::unique_ptr<ProcessBarriers> process_barriers;
  /// Created with the first message of one-sided communication.
  std::unique_ptr<RmaState> rma;
};

}  // namespace sorrel::mpi
