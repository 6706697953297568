//! Job - the ranks of one process from their first instruction to their last.
//!
//! Builds the scheduler, the stacks and the world, runs a body for every rank, and ends everything:
//! normally with the worst status of all ranks, at once when a rank is in trouble. What a rank runs
//! is the body's business: a copy of the user's program (program_driver.cpp), or a function of a
//! test (embedded.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/scheduler.hpp"
#include "mpi/rank_state.hpp"
#include "mpi/world.hpp"
#include "os/stack_slab.hpp"
#include "program/outside_wait.hpp"
#include "runtime/config.hpp"
#include "runtime/stall_watch.hpp"
#include "runtime/wait_table.hpp"
#include "transport/host/termination_detector.hpp"
#include "transport/sim/node_transport.hpp"

namespace sorrel::transport {
class HostTransport;
}

namespace sorrel::runtime {

/// What the ranks run.
class RankBody {
 public:
  virtual ~RankBody() = default;
  /// On the rank's worker, before any rank runs. False: the job ends with `trouble`.
  virtual bool prepare(mpi::RankState& rank, const char** trouble) = 0;

  /// On a worker that has been called away, outside of any fiber. Must not suspend.
  virtual void on_attention(core::Worker& /*worker*/) {}

  /// Once, when every rank is prepared and none has run.
  virtual void on_all_prepared() {}

  /// On the rank's own stack; returns its exit status. May suspend.
  virtual int run(mpi::RankState& rank) = 0;

  /// Any thread: what the rank waits for outside of MPI while its worker runs other ranks; null if
  /// it does not.
  virtual const program::OutsideWait* outside_wait(const mpi::RankState& /*rank*/) const {
    return nullptr;
  }

  /// Makes visible what the rank has written so far. Called when the job ends early.
  virtual void flush(mpi::RankState& rank) = 0;

  /// Among the ranks of this process, the one whose own code holds an address; -1: not known. Safe
  /// in a signal handler.
  [[nodiscard]] virtual int index_of_code(const void* /*address*/) const { return -1; }
};

/// How many of the job's ranks live in this process.
[[nodiscard]] std::int32_t own_rank_count(const Config& config);

/// Has the C library keep what ranks free for what they allocate next, where the process has few
/// enough of them. Before there are threads.
void keep_memory_of_ranks(const Config& config);

class Job final : public core::SchedulerHooks,
                  public mpi::JobControl,
                  public transport::QuietWatcher {
 public:
  /// `transport` carries packets to the job's other processes and outlives the job; null when there
  /// are none, or when they share memory.
  Job(const Config& config, RankBody& body, transport::Transport* transport = nullptr);
  ~Job() override;

  /// Runs every rank to its end and returns the exit status: the largest of all ranks'.
  int run();

  /// Makes the calling thread the only rank of this process, on the stack it has. Instead of run();
  /// for as long as the process lives.
  void adopt_calling_thread();

  /// What end_rank() does, for such a rank, when its process is about to end with `status`.
  void end_adopted_rank(int status);

  /// Ends the running rank from the middle of its stack.
  [[noreturn]] void end_rank(mpi::RankState& rank, int status);

  /// This process's part of the job: one world, or one for each pretend node.
  [[nodiscard]] const std::vector<std::unique_ptr<mpi::World>>& worlds() const { return worlds_; }

  /// The number of a rank among those of this process.
  [[nodiscard]] std::size_t index_of(const mpi::RankState& rank) const {
    return static_cast<std::size_t>(rank.world_rank - worlds_.front()->first_own_rank());
  }

  [[nodiscard]] const os::StackSlab& stacks() const { return stacks_; }

  void on_thread_start() override;
  void on_thread_end() override;
  void on_thread_refused(std::uint32_t started) override;
  void on_worker_start(core::Worker& worker) override;

  void on_all_started() override;

  void on_worker_end(core::Worker& worker) override;
  void on_all_asleep() override;
  void on_attention(core::Worker& worker) override;
  void on_report_requested() override;
  std::string text_of_waits(std::size_t bytes_max) override;
  void on_deadlock() override;
  void note_finalized(const mpi::RankState& rank) override;

  /// Any thread: true for the first of all processes that ends the job early. Safe in a signal
  /// handler.
  [[nodiscard]] bool claim_ending();

  /// Whether the calling thread has claimed the end of the job. Safe in a signal handler.
  [[nodiscard]] bool is_ended_by_caller();

  /// The rank whose code holds an address; nothing if that is not known. Safe in a signal handler.
  [[nodiscard]] std::optional<std::int32_t> rank_of_code(const void* address) const;

  /// Which process of the job this is; nothing in a job of one.
  [[nodiscard]] std::optional<std::uint32_t> process_number() const;

 private:
  [[nodiscard]] std::int32_t own_rank_count() const {
    return worlds_.back()->last_own_rank() - worlds_.front()->first_own_rank();
  }

  [[noreturn]] void end_without_stacks();
  /// Makes visible what the ranks have written: nobody runs.
  void flush_all();
  /// Of this process; empty when its workers have ended.
  [[nodiscard]] WaitTable own_waits() const;
  void add_reports_of_others(WaitTable& table);
  void end_in_deadlock(const WaitTable& table);

  [[nodiscard]] std::unique_ptr<StallWatch> make_stall_watch();
  void make_worlds(const Config& config, transport::Transport* transport);
  void prepare_ranks(mpi::World& world, core::Worker& worker);

  /// The rank of an adopted thread.
  [[nodiscard]] mpi::RankState& adopted_rank() const {
    return worlds_.front()->rank(worlds_.front()->first_own_rank());
  }

  /// Tells the process that waits for this one, if there is one.
  void set_phase(core::ProcessPhase phase);

  static void rank_entry(void* argument);
  [[noreturn]] void do_end_job(const mpi::RankState* culprit,
                               int status,
                               const char* message) override;

  RankBody& body_;
  os::StackSlab stacks_;
  core::Scheduler scheduler_;
  /// Of a job of several processes that was given none; else null.
  const std::unique_ptr<transport::Transport> own_transport_;
  /// The same, where packets go over a host MPI; else null.
  transport::HostTransport* const host_transport_;
  /// Of a job with a wire; else null.
  const std::unique_ptr<transport::SimulatedNodes> simulated_nodes_;
  /// Their ranks follow one another.
  std::vector<std::unique_ptr<mpi::World>> worlds_;
  const bool is_in_place_;
  const bool is_verbose_;
  bool have_workers_ended_ = false;
  // Relaxed: a maximum, read when all have ended.
  std::atomic<int> worst_status_{0};
  /// The first to end the job speaks; the others are cut off.
  std::atomic_flag is_ending_;
  /// Relaxed: it is compared with the caller's own number alone. 0: none.
  std::atomic<std::int32_t> ending_thread_{0};
  /// Another process has been told what our ranks wait for.
  std::atomic_flag has_reported_;
};

}  // namespace sorrel::runtime
