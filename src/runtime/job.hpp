//! Job - the ranks of one process from their first instruction to their last.
//!
//! Builds the scheduler, the stacks and the world, runs a body for every rank, and ends the job:
//! normally with the largest status of all ranks, at once if a rank fails. The body defines what a
//! rank runs: a privatized image of the user's program (program_driver.cpp), or a function of a
//! test (embedded.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "check/checked_job.hpp"
#include "core/job_stop.hpp"
#include "core/scheduler.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/job/spawn_service.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/stack_slab.hpp"
#include "report/report_file.hpp"
#include "report/wait_table.hpp"
#include "runtime/base/job_view.hpp"
#include "runtime/checkpoint/job_saver.hpp"
#include "runtime/config.hpp"
#include "runtime/end/deadlock_watch.hpp"
#include "runtime/end/stall_watch.hpp"
#include "runtime/moves/rank_mover.hpp"
#include "runtime/page_follower.hpp"
#include "runtime/rank_body.hpp"
#include "symbols/backtrace.hpp"
#include "transport/host/termination_detector.hpp"
#include "transport/sim/node_transport.hpp"

namespace sorrel::transport {
class HostTransport;
}

namespace sorrel::runtime {

/// The number of the job's ranks in this process.
[[nodiscard]] std::int32_t own_rank_count(const Config& config);

/// The lowest of their numbers.
[[nodiscard]] std::int32_t first_own_rank(const Config& config);

/// The number of ranks for which this process has addresses, and the lowest of their numbers: its
/// own, or if ranks change their process, all.
[[nodiscard]] std::int32_t place_count(const Config& config);
[[nodiscard]] std::int32_t first_place(const Config& config);

/// Makes the C library keep memory that ranks free, if the process has few enough ranks. To be
/// called before there are threads.
void keep_memory_of_ranks(const Config& config);

class Job final : public core::SchedulerHooks,
                  public mpi::JobControl,
                  public check::CheckedJob,
                  public transport::QuietWatcher,
                  private RankPlaces {
 public:
  /// `transport` carries packets to the job's other processes and outlives the job. Null if there
  /// are no others, or if they share memory.
  Job(const Config& config, RankBody& body, transport::Transport* transport = nullptr);

  /// Runs every rank to its end and returns the exit status: the largest of all ranks'.
  int run();

  /// Makes the calling thread the only rank of this process, on its present stack. Called instead
  /// of run(); the rank lasts as long as the process.
  void attach_calling_thread();

  /// end_rank() for such a rank, when its process is about to end with `status`.
  void end_attached_rank(int status);

  /// On a rank's own stack, at the end of MPI_Init: JobSaver::save_begin().
  void save_begin(mpi::RankState& rank);

  /// Ends the running rank from the middle of its stack.
  [[noreturn]] void end_rank(mpi::RankState& rank, int status);

  /// Ends the job if the rank, which ends with `status`, has not finalized MPI. Any thread.
  void require_finalized(const mpi::RankState& rank, int status);

  /// What reports read of it.
  [[nodiscard]] const JobView& view() const { return view_; }

  [[nodiscard]] RankBody& body() { return body_; }

  [[nodiscard]] const RankBody& body() const { return body_; }

  /// What ended the job, for the user's file.
  [[nodiscard]] const report::ReportFile& report_file() const { return report_file_; }

  /// Whether reports have the latest events.
  [[nodiscard]] bool is_verbose() const { return is_verbose_; }

  /// For calls of a rank, or of a thread without one: null. Safe in a signal handler.
  [[nodiscard]] symbols::Backtrace backtrace_of(const mpi::RankState* rank) const;

  mpi::Observer* observer() override { return checker() == nullptr ? nullptr : this; }

  void on_thread_start() override;
  void on_thread_end() override;
  void on_thread_refused(std::uint32_t started) override;
  void on_worker_start(core::Worker& worker) override;

  void on_all_started() override;

  void on_worker_end(core::Worker& worker) override;
  void on_all_asleep() override;
  void on_attention(core::Worker& worker) override;
  void on_settings_change(core::Worker& worker, const core::Fiber& next) override;
  bool may_lend(const core::Fiber& fiber) override;
  bool may_move(const mpi::RankState& rank) override;
  void on_moved(const mpi::RankState& rank, const core::Worker& from) override;
  void on_report_requested() override;
  void on_guest_wait(core::Guest& guest) override;
  void on_guest_resume(core::Guest& guest) override;
  bool has_threads_outside(core::Worker& worker) override;
  std::string text_of_waits(std::size_t bytes_max) override;
  void on_deadlock() override;
  void on_end(int status) override;
  void record_finalized(const mpi::RankState& rank) override;
  int save_job(mpi::RankState& rank) override;
  mpi::FoundProgram find_program(const mpi::SpawnCommand& command) override;
  std::string prepare_spawned(std::span<mpi::RankState* const> ranks,
                              const mpi::SpawnCommand& command) override;
  void drop_spawned(std::span<mpi::RankState* const> ranks) override;
  void start_spawned(std::span<mpi::RankState* const> ranks) override;

  /// Any thread: true for the first thread of all processes that ends the job early. Safe in a
  /// signal handler.
  [[nodiscard]] bool claim_ending();

  /// Whether the calling thread has claimed the end of the job. Safe in a signal handler.
  [[nodiscard]] bool is_ended_by_caller();

  /// The index of this process in the job; nothing in a job of one process.
  [[nodiscard]] std::optional<std::uint32_t> process_number() const;

 private:
  [[noreturn]] void end_without_stacks();
  [[noreturn]] void end_not_restarted(const std::string& error);
  /// Makes the output of all ranks visible. No rank runs meanwhile.
  void flush_all();
  /// The waits of this process; empty if its workers have ended.
  [[nodiscard]] report::WaitTable own_waits() const;
  void add_remote_waits(report::WaitTable& table);
  void end_after_report(core::JobMemory& memory);
  /// Some ranks, which wait for ever while others run.
  void report_stuck(const std::vector<mpi::WaitGraph::Stuck>& ranks);
  void end_in_deadlock(const report::WaitTable& table);

  [[nodiscard]] std::unique_ptr<StallWatch> make_stall_watch();
  void make_worlds(const Config& config, transport::Transport* transport);
  void prepare_ranks(mpi::ProcessWorld& world, core::Worker& worker);
  [[nodiscard]] bool install_guard(const mpi::RankState& rank);
  std::string prepare_rank(mpi::RankState& rank, core::Worker& worker) override;
  void clear_rank(mpi::RankState& rank) override;
  class SpawnedPlaces;
  /// This process has no rank any more, and may get none unless it began without.
  void note_rankless(core::Worker& worker);
  [[nodiscard]] bool have_all_ranks_ended();
  void start_fiber(mpi::RankState& rank, core::Worker& worker);
  void begin_change() override;
  void end_change() override;

  /// The rank of the attached thread.
  [[nodiscard]] mpi::RankState& attached_rank() const {
    return worlds_.front()->rank(worlds_.front()->first_own_rank());
  }

  /// Publishes the phase to the process that waits for this one, if there is one.
  void set_phase(core::ProcessPhase phase);
  [[noreturn]] void end_without_finalize(const mpi::RankState& rank, int status);
  [[noreturn]] void end_after_another(int status);
  [[noreturn]] void end_others_and_exit(int status);

  static void rank_entry(void* argument);
  static int run_body(mpi::RankState& rank);
  [[noreturn]] void do_end_job(const mpi::RankState* failed_rank,
                               int status,
                               const char* message) override;

  /// For debuggers.
  void publish_ranks() const;

  /// Makes the tracer of a worker, if the run is traced.
  void begin_trace(core::Worker& worker);
  void trace_ranks(core::Worker& worker);
  void on_width_change(std::uint32_t before, std::uint32_t now) override;

  RankBody& body_;
  const JobView view_;
  /// Outlive the workers. By the index of the worker; null where the run is not traced.
  std::vector<std::unique_ptr<trace::Tracer>> tracers_;
  const std::string trace_folder_;
  /// The limit of a file of events.
  const std::uint64_t trace_bytes_max_;
  const report::ReportFile report_file_;
  /// The governor's thread only; null until its first decision.
  std::unique_ptr<trace::Tracer> governor_tracer_;
  std::atomic_flag has_trace_failed_;
  /// Threads that would have ended the job, after another process.
  std::atomic<std::uint32_t> late_end_count_{0};
  /// In a checked run, in the place of a tracer: shows messages to the checker.
  std::unique_ptr<trace::Tracer> message_tracer_;
  os::StackSlab stacks_;
  /// By index, 1: the stack has its guard. Of each worker for its ranks.
  std::vector<std::uint8_t> has_guard_;
  core::Scheduler scheduler_;
  PageFollower page_follower_;
  /// For a job of several processes that was given no transport; else null.
  const std::unique_ptr<transport::Transport> own_transport_;
  /// The transport, if packets go over a host MPI; else null.
  transport::HostTransport* const host_transport_;
  /// Null if the job has no safepoints.
  const std::unique_ptr<core::JobStop> job_stop_;
  /// For a job with a simulated network; else null.
  const std::unique_ptr<transport::SimulatedNodes> simulated_nodes_;
  /// Ranks are numbered consecutively across the worlds.
  std::vector<std::unique_ptr<mpi::ProcessWorld>> worlds_;
  /// Null on simulated nodes.
  std::unique_ptr<mpi::SpawnService> spawns_;
  /// Null if the job was not started with a folder for checkpoints.
  std::unique_ptr<JobSaver> saver_;
  /// Null if ranks stay in their processes.
  std::unique_ptr<RankMover> mover_;
  /// Null where no other rank runs while ranks wait, or ranks may go to other processes meanwhile.
  std::unique_ptr<DeadlockWatch> deadlock_watch_;
  /// The process began without ranks, for those that others spawn: it lasts as long as any process
  /// has ranks.
  const bool is_host_;
  /// The number of ranks that run here then.
  std::atomic<std::int32_t> hosted_count_{0};
  /// Changed by worker 0.
  bool is_over_ = false;
  const bool is_restarted_;
  const bool is_verbose_;
  bool have_workers_ended_ = false;
  // Relaxed: a maximum, read when all ranks have ended.
  std::atomic<int> worst_status_{0};
  /// Only the first thread that ends the job reports; the others are cut off.
  std::atomic_flag is_ending_;
  /// Relaxed: each thread compares it with its own number only. 0: none.
  std::atomic<std::int32_t> ending_thread_{0};
  /// This process's waits have been sent to another process.
  std::atomic_flag has_reported_;
  /// What ranks that are spawned have of this object.
  const std::unique_ptr<mpi::SpawnedRankHooks> spawned_places_;
};

}  // namespace sorrel::runtime
