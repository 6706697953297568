//! StallWatch - one line on standard error when a rank has waited outside of MPI for 5 s while
//! other ranks need it, or need its worker.
//!
//! A rank that sleeps in the kernel, in read() or sem_wait(), blocks its worker: the other ranks of
//! the worker cannot run, and the rank may be waiting for one of them. Natively each rank has a
//! process. Once a second a thread samples which workers' threads have not run since the last
//! sample although their workers are not parked. Only then does it examine ranks. Workers do no
//! extra work. A rank that computes is not reported, unless the job is verbose. The ranks write
//! what the watch reads (states and pointers to constants); it is read once and may be out of date.
//! A signal handler that has work for another thread wakes the watch's thread, so that a process
//! needs no further one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/scheduler.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/sched_stat.hpp"
#include "runtime/base/body_view.hpp"

namespace sorrel::runtime {

class DeadlockWatch;

class StallWatch {
 public:
  using Worlds = std::vector<std::unique_ptr<mpi::ProcessWorld>>;

  struct Options {
    /// Ranks of the whole job, for the advice.
    std::int32_t rank_count = 1;
    /// Also report a rank that computes while others are ready.
    bool is_verbose = false;
    /// Called by the watch's thread after each wake(), and once before the thread ends.
    void (*on_wake)() = nullptr;
    /// Gets the thread's samples; null: none.
    DeadlockWatch* deadlocks = nullptr;
  };

  /// Starts to watch, unless the system allows no more threads. All arguments must outlive it.
  StallWatch(core::Scheduler& scheduler,
             const Worlds& worlds,
             const BodyView& body,
             const Options& options);
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;
  ~StallWatch();

  /// Wakes the thread of the process's watch, if there is one. Safe in a signal handler.
  static void wake();

 private:
  enum class Activity : std::uint8_t {
    none,     ///< Parked, or nothing is known.
    kernel,   ///< Its thread has slept in the kernel since the last sample, and is not parked.
    compute,  ///< Its thread has run, or waited for a core, since the last sample.
    other,
  };

  /// A worker: the results of this sample, and the record of earlier ones.
  struct Watched {
    std::unique_ptr<os::SchedStat> times;
    int thread = 0;
    std::int64_t run_ns = 0;
    std::int64_t delay_ns = 0;
    Activity activity = Activity::none;
    /// The rank that runs, or sleeps in the kernel; null: none.
    const mpi::RankState* rank = nullptr;
    std::int32_t ready_count = 0;
    /// A rank is in an endless OutsideWait.
    bool has_outside_wait = false;
    /// Consecutive samples with the same rank in the same activity.
    int sample_count = 0;
    /// Number of those samples in which other ranks of the worker could have run.
    int blocked_count = 0;
  };

  /// The ranks of the process that have not ended, by activity.
  struct Census;

  static void* thread_main(void* argument);
  void sample(std::int64_t elapsed_ns);
  void sample_deadlocks();
  [[nodiscard]] Activity activity_of(core::Worker& worker,
                                     Watched& watched,
                                     std::int64_t elapsed_ns);
  [[nodiscard]] Census count_ranks();
  void count(const mpi::RankState& rank, Census& census);
  void check_worker(std::uint32_t index, Watched& watched);
  void check_process(const Census& census);
  void report_blocked(const Watched& watched);
  void report_awaited(const Census& census);
  [[nodiscard]] bool is_first_report_of(const mpi::RankState& rank);

  core::Scheduler& scheduler_;
  const Worlds& worlds_;
  const BodyView& body_;
  const Options options_;

  // Used by the watch's thread only.
  std::vector<Watched> workers_;
  std::vector<const mpi::RankState*> reported_;
  /// Consecutive samples in which every rank waited, at least one of them outside of MPI.
  int quiet_count_ = 0;

  std::atomic<bool> is_stopping_{false};
  std::atomic<std::uint32_t> has_ended_{0};
};

}  // namespace sorrel::runtime
