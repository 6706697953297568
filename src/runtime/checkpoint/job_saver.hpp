//! JobSaver - saves all ranks of a job at a collective call, and restores them in another process.
//!
//! Every rank leaves the frame in which it goes on, and waits. The last one stops all workers
//! (core/scheduler.hpp); if nothing is in flight, the process forks. The ranks go on at once; the
//! child has the memory of that moment, writes it, and ends. README.md has the protocol.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "arch/context.hpp"
#include "checkpoint/generations.hpp"
#include "core/scheduler.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/stack_slab.hpp"
#include "runtime/checkpoint/save_requests.hpp"
#include "runtime/checkpoint/saved_state.hpp"
#include "runtime/config.hpp"
#include "runtime/rank_body.hpp"

namespace sorrel::runtime {

class JobSaver final : private core::StopAction {
 public:
  /// All outlive it. Before the workers run.
  JobSaver(const Config& config,
           core::Scheduler& scheduler,
           mpi::ProcessWorld& world,
           RankBody& body,
           const os::StackSlab& stacks);

  /// Before the workers run: reads what a job that is restarted needs first. Returns an error, or
  /// "".
  [[nodiscard]] std::string open();

  /// JobControl::save_job().
  [[nodiscard]] int save(mpi::RankState& rank);

  /// JobControl::begin_save().
  [[nodiscard]] bool begin_save();

  /// On the worker of a rank that is prepared and has not run: gives it the state that it has in
  /// the checkpoint with which the job was started. Returns an error, or "".
  [[nodiscard]] std::string restore(mpi::RankState& rank);

  /// When all ranks are restored: gives them what their handles stand for. Returns an error, or "".
  [[nodiscard]] std::string restore_objects();

  /// When no rank runs: waits until the last checkpoint is written.
  void finish();

  /// When ranks may run: from now on requests are taken.
  void start_requests();

 private:
  /// On the stack of a rank that is saved.
  struct Kept {
    arch::Context resume = nullptr;
    JobSaver* saver = nullptr;
    mpi::RankState* rank = nullptr;
    /// Waits for the end.
    core::Fiber* fiber = nullptr;
    /// Why it cannot be saved; null: see reason_not_saved().
    const char* reason = nullptr;
    bool handles_exception = false;
    int outcome = 0;
  };

  static void wait_below(void* argument);
  [[nodiscard]] int join(Kept& kept);
  [[nodiscard]] bool has_written_last();
  void end_writer(int status);
  void on_stopped() override;
  void on_resumed(core::Worker& requester) override;
  [[nodiscard]] std::string reason_not_saved();
  void print_refusal(const std::string& reason);
  [[nodiscard]] int save_stopped();
  [[nodiscard]] std::string write(pid_t parent);
  [[nodiscard]] std::string write_rank(checkpoint::SegmentWriter& file, mpi::RankState& rank);
  [[nodiscard]] checkpoint::FileIdentity identity(std::uint64_t generation) const;

  const Config& config_;
  core::Scheduler& scheduler_;
  mpi::ProcessWorld& world_;
  RankBody& body_;
  const os::StackSlab& stacks_;
  const std::string layout_;
  const checkpoint::Generations generations_;

  /// By rank, while it waits. Published by the counter.
  std::vector<Kept*> kept_;
  // Acquire and release: the last one sees what the others have left.
  std::atomic<std::size_t> arrived_count_{0};
  // While all workers are stopped, or by the last one to arrive.
  core::Fiber* last_ = nullptr;
  bool is_over_ = false;
  int outcome_ = 0;
  /// The child that writes; 0: none.
  pid_t writer_ = 0;
  /// Why the last save that the program had not asked for was refused.
  std::string last_refusal_;
  /// Null before start_requests().
  std::unique_ptr<SaveRequests> requests_;

  // Of a job that was restarted; constant once it is open.
  checkpoint::SegmentReader file_;
  /// By rank: the first of its segments.
  std::vector<std::size_t> first_segments_;
  /// By rank: the record of its objects, until they are restored.
  std::vector<std::string> objects_;
};

}  // namespace sorrel::runtime
