//! StallWatch - one line on standard error when a rank has waited outside of MPI for 5 s while
//! other ranks need it, or need its worker.
//!
//! A rank that sleeps in the kernel, in read() or sem_wait(), takes its worker along: the other
//! ranks of the worker cannot run, and what the rank waits for may be one of them. Natively each
//! rank has a process. A thread of the watch looks once a second which threads of workers have not
//! run at all since the last look though their workers are not parked; only then does it look at
//! ranks. Nothing is added to what workers do. A rank that computes is not reported, however long
//! it takes, unless the job is verbose. What the watch reads of ranks is theirs to write: states
//! and pointers to constants, read once, which may be out of date.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/scheduler.hpp"
#include "mpi/rank_state.hpp"
#include "mpi/world.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::runtime {

class RankBody;

class StallWatch {
 public:
  using Worlds = std::vector<std::unique_ptr<mpi::World>>;

  struct Options {
    /// Of the whole job, for the advice.
    std::int32_t rank_count = 1;
    /// A rank that computes while others are ready is reported, too.
    bool is_verbose = false;
  };

  /// Watches from now on; not at all if the system allows no more threads. All must outlive it.
  StallWatch(core::Scheduler& scheduler,
             const Worlds& worlds,
             const RankBody& body,
             const Options& options);
  StallWatch(const StallWatch&) = delete;
  StallWatch& operator=(const StallWatch&) = delete;
  ~StallWatch();

 private:
  enum class Activity : std::uint8_t {
    none,     ///< Parked, or nothing is known.
    kernel,   ///< Its thread has slept in the kernel since the last look, and is not parked.
    compute,  ///< Its thread has run, or waited for a core, since the last look.
    other,
  };

  /// A worker: what this look has found, and what is remembered of earlier ones.
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
    /// Looks in a row with the same rank in the same activity.
    int look_count = 0;
    /// Those of them at which other ranks of the worker could have run.
    int held_up_count = 0;
  };

  /// Ranks of the process that have not ended, by what they do.
  struct Census;

  static void* thread_main(void* argument);
  void look(std::int64_t elapsed_ns);
  [[nodiscard]] Activity activity_of(core::Worker& worker,
                                     Watched& watched,
                                     std::int64_t elapsed_ns);
  [[nodiscard]] Census count_ranks();
  void count(const mpi::RankState& rank, Census& census);
  void judge_worker(std::uint32_t index, Watched& watched);
  void judge_process(const Census& census);
  void report_held_up(const Watched& watched);
  void report_awaited(const Census& census);
  [[nodiscard]] bool is_first_report_of(const mpi::RankState& rank);

  core::Scheduler& scheduler_;
  const Worlds& worlds_;
  const RankBody& body_;
  const Options options_;

  // The watch's thread.
  std::vector<Watched> workers_;
  std::vector<const mpi::RankState*> reported_;
  /// Looks in a row at which every rank waited, one of them at least outside of MPI.
  int quiet_count_ = 0;

  std::atomic<std::uint32_t> is_stopping_{0};
  std::atomic<std::uint32_t> has_ended_{0};
};

}  // namespace sorrel::runtime
