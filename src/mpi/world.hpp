//! World - the ranks of the job, and what a worker keeps for the ranks it runs.
//!
//! Constant after start-up, except the counters marked "any thread".
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/scheduler.hpp"
#include "mpi/error_detail.hpp"
#include "mpi/p2p/request_pool.hpp"

namespace sorrel::mpi {

class CommShared;
class Group;
class World;
struct RankState;
struct Request;

/// Bounds of the message protocol; see p2p/README.md.
struct MessageLimits {
  /// A message to another worker no longer than this is copied into the mailbox.
  std::uint32_t inline_bytes_max = 512;
  /// A message that nobody expects yet, no longer than this, is copied so that a blocking sender
  /// may go on.
  std::uint32_t eager_bytes_max = 16384;
};

/// What one worker keeps for its ranks; its own thread only.
struct WorkerState {
  World* world = nullptr;
  core::Worker* worker = nullptr;
  RequestPool requests;
  /// What every nonblocking send that is over at once returns: complete, active for ever, never
  /// given back.
  Request* finished_send = nullptr;
  /// The detail of the error being raised: valid until the next one.
  ErrorDetail error_detail;
};

/// What the job can do for a rank that is in trouble.
class JobControl {
 public:
  virtual ~JobControl() = default;

  /// Ends the whole job at once with `status`, after printing `message` (one line, without newline;
  /// may be empty).
  [[noreturn]] void end_job(const RankState* culprit, int status, const char* message) {
    do_end_job(culprit, status, message);
    __builtin_unreachable();
  }

 private:
  virtual void do_end_job(const RankState* culprit, int status, const char* message) = 0;
};

class World {
 public:
  World(core::Scheduler& scheduler, JobControl& job, std::int32_t size);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] std::int32_t size() const { return static_cast<std::int32_t>(ranks_.size()); }

  [[nodiscard]] core::Scheduler& scheduler() const { return scheduler_; }

  [[nodiscard]] JobControl& job() const { return job_; }

  [[nodiscard]] const MessageLimits& limits() const { return limits_; }

  [[nodiscard]] RankState& rank(std::int32_t world_rank) {
    return *ranks_[static_cast<std::size_t>(world_rank)];
  }

  [[nodiscard]] RankState* const* ranks() const { return ranks_.data(); }

  [[nodiscard]] const std::shared_ptr<const Group>& group() const { return group_; }

  /// The worker that runs a rank: contiguous blocks, sizes differing by at most one.
  [[nodiscard]] std::uint32_t worker_of(std::int32_t world_rank) const;

  /// Creates the states of the ranks of `worker`, on its thread.
  void make_ranks(core::Worker& worker);
  /// Ends them.
  void end_ranks(core::Worker& worker);

  /// The ranks of worker `index`: [first, last).
  [[nodiscard]] std::int32_t first_rank(std::uint32_t index) const;

  /// Any thread: a context number that no communicator has had.
  std::uint32_t new_context() { return next_context_.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] CommShared& shared_of_world() { return *world_comm_; }

 private:
  core::Scheduler& scheduler_;
  JobControl& job_;
  const MessageLimits limits_;
  std::shared_ptr<const Group> group_;
  std::vector<RankState*> ranks_;
  std::vector<std::unique_ptr<WorkerState>> worker_states_;
  CommShared* world_comm_ = nullptr;
  // Relaxed: only distinct values matter.
  std::atomic<std::uint32_t> next_context_{1};
};

}  // namespace sorrel::mpi
