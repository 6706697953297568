//! JobStop - stops all workers of all processes of a job, so that each process may change or copy
//! what belongs to any of its workers, while nothing is in flight in the whole job.
//!
//! Each process has one object, with one action. To stop the job, the processes that must_request()
//! call request(); then in every process, on one thread each, the action's on_job_stopped() is
//! called. There the processes may exchange() numbers and memory, as
//! often as they like, but all equally often. A stop may fail, because a worker is late or
//! something is in flight. It has no effect then, and the requester may request it again:
//!
//!     bool Mover::try_stop(core::Worker& worker) {           // in a fiber
//!       return job_stop.request(worker);    // false: not now
//!     }
//!     void Mover::on_job_stopped(core::JobStop& stop) {      // in every process
//!       if (!stop.agree(may_move())) return;                 // all of them, or none
//!       ...                                                  // fibers may be made ready
//!     }
//!     void Mover::on_job_resumed(core::Worker& requester, bool was_stopped) { ... }
//!
//! Two kinds: SharedJobStop for processes that all share memory, and transport::HostJobStop for
//! those of a host MPI. README.md, "Stops of a job", and src/transport/host/README.md have their
//! protocols and the proofs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "os/touched_pages.hpp"

namespace sorrel::core {

class JobStop;
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

  /// Afterwards, in the process of each requester, on its thread, outside of any fiber.
  /// `was_stopped`: whether on_job_stopped() has been called, which it was everywhere or nowhere.
  virtual void on_job_resumed(Worker& requester, bool was_stopped) = 0;
};

class JobStop {
 public:
  virtual ~JobStop() = default;

  /// In every process alike, before its workers run.
  void set_action(JobStopAction& action) { action_ = &action; }

  /// In each process once, when it is ready for an action for which all have to be ready, then once
  /// more in each for the next one, and so on: whether it is this process that requests the stop.
  [[nodiscard]] virtual bool must_request() = 0;

  /// On the thread of `requester`, in a fiber: begins a stop. False: not now, since workers share
  /// threads, another stop lasts, or a process has ended. True: on_job_resumed() will be called.
  /// May suspend.
  [[nodiscard]] virtual bool request(Worker& requester) = 0;

  /// In SchedulerHooks::on_attention().
  virtual void on_attention(Worker& /*worker*/) {}

  // In JobStopAction::on_job_stopped(). All processes make the same calls.

  /// Publishes a number for all processes, waits until all have published theirs, and returns these
  /// by the numbers of the processes: valid until the next call. What a process has written to
  /// shared memory before is visible to all afterwards.
  virtual std::span<const std::uint64_t> exchange(std::uint64_t own) = 0;

  /// Whether all processes agree.
  [[nodiscard]] bool agree(bool own);

  /// The sum of the numbers of all processes.
  [[nodiscard]] std::uint64_t sum(std::uint64_t own);

  /// Gathers `bytes` of each process, by the numbers of the processes: the same number in all.
  /// False, in all: the system does not let them read each other's memory.
  [[nodiscard]] virtual bool gather(const void* own, void* all, std::size_t bytes) = 0;

  /// For a process, from another one.
  struct Parcel {
    std::uint32_t process = 0;
    std::string bytes;
  };

  /// Gives each parcel to its process, and returns those for this one, one of each of `senders`, in
  /// their order. Both ascending. Nothing, in all: as above.
  [[nodiscard]] virtual std::optional<std::vector<std::string>> exchange_parcels(
      std::span<const Parcel> parcels, std::span<const std::uint32_t> senders) = 0;

  /// Memory that another process gets, or has.
  struct Shipment {
    std::uint32_t process = 0;
    std::vector<os::MemoryRange> memory;
  };

  /// Copies memory between processes, to the same addresses. Each shipment that one sends, its
  /// process awaits. Both ascending. What was sent must not change before all have returned. False:
  /// some of what this process awaits has not come.
  [[nodiscard]] virtual bool ship(std::span<const Shipment> sent,
                                  std::span<const Shipment> awaited) = 0;

  /// Whether the calls above work where processes cannot read each other's memory.
  [[nodiscard]] virtual bool sends_memory() const = 0;

 protected:
  [[nodiscard]] JobStopAction& action() const {
    SORREL_ASSERT(action_ != nullptr);
    return *action_;
  }

 private:
  JobStopAction* action_ = nullptr;
};

}  // namespace sorrel::core
