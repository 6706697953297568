//! JobStop - stops all workers of all processes of a job, so that each process may change or copy
//! what belongs to any of its workers, while nothing is in flight in the whole job.
//!
//! For jobs whose processes all share memory (sorrel run --procs), and jobs of one. Each process
//! has one object, with the same actions under the same numbers. To stop the job, one of them calls
//! request(); then in every process, on one thread each, the action's on_job_stopped() is called.
//! There the processes may exchange() numbers, as often as they like, but all equally often. A stop
//! may fail, because a worker is late or something is in flight. It has no effect then, and the
//! requester may request it again:
//!
//!     bool Mover::try_stop(core::Worker& worker) {           // in a fiber
//!       return job_stop.request(worker, action_number);    // false: not now
//!     }
//!     void Mover::on_job_stopped(core::JobStop& stop) {      // in every process
//!       if (!stop.agree(may_move())) return;                 // all of them, or none
//!       ...                                                  // fibers may be made ready
//!     }
//!     void Mover::on_job_resumed(core::Worker& requester, bool was_stopped) { ... }
//!
//! README.md, "Stops of a job", has the protocol and the proof.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "core/stop_action.hpp"

namespace sorrel::core {

class JobMemory;
class JobStop;
class Scheduler;
class Worker;

class JobStopAction {
 public:
  virtual ~JobStopAction() = default;

  /// In each process, while all workers of the job are stopped: whether nothing of the layers above
  /// is on its way to another worker.
  [[nodiscard]] virtual bool is_quiet() { return true; }

  /// In each process, on the thread of some worker, outside of any fiber: no fiber and no other
  /// worker of the job runs, and all processes are quiet. No process goes on before all have
  /// returned. May make fibers ready, and call stop.exchange(). Must not suspend.
  virtual void on_job_stopped(JobStop& stop) = 0;

  /// Afterwards, in the process of the requester alone, on its thread, outside of any fiber.
  /// `was_stopped`: whether on_job_stopped() has been called, which it was everywhere or nowhere.
  virtual void on_job_resumed(Worker& requester, bool was_stopped) = 0;
};

class JobStop final : private StopAction {
 public:
  /// Numbers of actions are below.
  static constexpr std::uint32_t action_count_max = 4;

  /// For the process of the scheduler, which outlives it.
  explicit JobStop(Scheduler& scheduler);
  JobStop(const JobStop&) = delete;
  JobStop& operator=(const JobStop&) = delete;

  /// In every process alike, before its workers run.
  void set_action(std::uint32_t number, JobStopAction& action);

  /// On the thread of `requester`, in a fiber: begins a stop for the action of that number. False:
  /// not now, since workers share threads, another stop lasts, or a process has ended. True:
  /// on_job_resumed() will be called.
  [[nodiscard]] bool request(Worker& requester, std::uint32_t number);

  /// Any worker, once in each process, then once more in each, and so on: true for the last process
  /// of every such round. For actions that every process has to be ready for.
  [[nodiscard]] bool is_last_ready();

  /// In SchedulerHooks::on_attention().
  void on_attention(Worker& worker);

  // In JobStopAction::on_job_stopped().

  /// Publishes a number for all processes, waits until all have published theirs, and returns these
  /// by the numbers of the processes: valid until the next call. What a process has written to
  /// shared memory before is visible to all afterwards.
  std::span<const std::uint64_t> exchange(std::uint64_t own);

  /// Whether all processes agree.
  [[nodiscard]] bool agree(bool own);

 private:
  void on_stopped() override;
  void on_resumed(Worker& requester) override;
  [[nodiscard]] bool wait_for_all(std::uint32_t number);
  [[nodiscard]] bool has_ended_process() const;

  Scheduler& scheduler_;
  JobMemory& memory_;
  const std::uint32_t process_;
  const std::uint32_t process_count_;
  std::array<JobStopAction*, action_count_max> actions_{};

  /// The workers of this process are being stopped. Acquire and release: of the rest.
  std::atomic<bool> is_taking_part_{false};
  /// The stop in which this process has arrived last. Relaxed: a process arrives while no worker of
  /// it polls.
  std::atomic<std::uint32_t> arrived_number_{0};

  // Of the stop that lasts: while is_taking_part_.
  /// For which the workers of this process are being stopped.
  std::uint32_t number_ = 0;
  bool is_requester_ = false;
  bool was_stopped_ = false;
  // While all workers are stopped.
  std::uint64_t round_ = 0;
  std::vector<std::uint64_t> numbers_;
};

}  // namespace sorrel::core
