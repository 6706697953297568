//! Scheduler - the workers of one process, and the two states that concern all of them: all idle,
//! and all ended.
//!
//! A job may have several processes, each with a scheduler of its own; then controls and mailboxes
//! of its workers lie in memory that they share (core/job_memory.hpp), and "every worker" below
//! means every worker of the job.
//!
//! run() starts a thread per worker (the caller's thread is worker 0) and returns when every fiber
//! has ended. When every worker sleeps and all timers are poll timers (Timer::is_poll), no worker
//! here can wake another: the last one to fall asleep calls the all-asleep hook (README.md, "All
//! workers idle"). The hook may end the process or return, in which case the workers sleep on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/cache_line.hpp"
#include "core/binding.hpp"
#include "core/stop_action.hpp"
#include "core/stop_point.hpp"
#include "core/worker.hpp"
#include "core/worker_nodes.hpp"
#include "core/worker_thread.hpp"
#include "os/memory_nodes.hpp"

namespace sorrel::core {

struct SchedulerOptions {
  /// At most as many as the job's memory has for each process; the owner of the memory marks the
  /// others as gone.
  std::uint32_t worker_count = 1;
  WorkerLimits limits;
  /// CPU number for each worker; empty: not bound.
  std::vector<int> cpus;
  /// The workers start on these CPUs, and the system may move them.
  bool may_move = false;
  /// The memory nodes near which workers, their memory and loans are kept; one: none of that.
  os::MemoryNodes memory_nodes = {};
  /// Memory of a job of several processes, which outlives the scheduler, and the number of this
  /// process; null for a job of one.
  JobMemory* memory = nullptr;
  std::uint32_t process = 0;
  /// Whether idle workers run fibers of others between two calls of the library (README.md,
  /// "Loans"). Not with a seed.
  bool lends_fibers = false;
  /// Whether the running times of fibers are measured (Worker::busy_cycles_of()). Not with a seed.
  bool measures_fibers = false;
  /// For one worker only: its order and its clock are functions of this number.
  std::optional<std::uint64_t> seed = std::nullopt;
};

/// Callbacks to the owner of a scheduler. On a worker's thread, outside any fiber, if not marked
/// otherwise.
class SchedulerHooks {
 public:
  virtual ~SchedulerHooks() = default;

  /// First and last on each thread of the scheduler.
  virtual void on_thread_start() {}

  virtual void on_thread_end() {}

  /// On the thread that called run(): the system starts no more threads than `started`, that one
  /// included. Ends the process; does not return.
  virtual void on_thread_refused(std::uint32_t /*started*/) {}

  /// On each worker's own thread: creates its fibers. No fiber runs before every worker's call has
  /// returned.
  virtual void on_worker_start(Worker& worker) = 0;

  /// Once, when on_worker_start() has returned on every worker and no fiber has run.
  virtual void on_all_started() {}

  virtual void on_worker_end(Worker& worker) = 0;
  /// Every worker sleeps, all timers are poll timers (with these the hook runs again and again),
  /// and fibers still wait. The calling worker counts as asleep: a hook that wakes others wakes it
  /// first.
  virtual void on_all_asleep() = 0;

  /// After Worker::request_attention(), on the worker's thread, before it leaves its fibers. Must
  /// not suspend.
  virtual void on_attention(Worker& /*worker*/) {}

  /// At a switch between fibers with different Fiber::settings, on the stack of the previous one
  /// and with the thread pointer of `next`: sets the thread as `next` needs it. Must not change
  /// errno.
  virtual void on_settings_change(Worker& /*worker*/, const Fiber& /*next*/) {}

  /// In set_width(), on its caller's thread: the workers may use `now` threads, before it `before`.
  virtual void on_width_change(std::uint32_t /*before*/, std::uint32_t /*now*/) {}

  // Guests (core/guest.hpp). The caller has the worker's seat.

  /// The guest's call begins to wait; later, on the guest's thread, it goes on.
  virtual void on_guest_wait(Guest& /*guest*/) {}

  virtual void on_guest_resume(Guest& /*guest*/) {}

  /// Whether a thread that may become a guest of the worker is outside of calls: it may call at any
  /// time, and then wake others.
  virtual bool has_threads_outside(Worker& /*worker*/) { return false; }

  /// On the worker of `fiber`, at the end of a call, when another worker is idle: whether that one
  /// may run the fiber until its next call.
  virtual bool may_lend(const Fiber& /*fiber*/) { return true; }

  /// Another process of the job, in its on_all_asleep(), requests what the fibers here wait for.
  virtual void on_report_requested() {}
};

/// Work for idle workers that no fiber waits for: parallel loops.
class IdleSource {
 public:
  virtual ~IdleSource() = default;
  /// On an idle worker's thread, repeatedly, and a last time before it sleeps: makes a fiber of
  /// this worker ready if there is work, and returns whether it did. Never suspends.
  virtual bool on_idle(Worker& worker, bool is_about_to_sleep) = 0;
};

class Scheduler {
 public:
  Scheduler(const SchedulerOptions& options, SchedulerHooks& hooks);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  [[nodiscard]] std::uint32_t worker_count() const {
    return static_cast<std::uint32_t>(workers_.size());
  }

  [[nodiscard]] Worker& worker(std::uint32_t index) { return *workers_[index]; }

  [[nodiscard]] const Worker& worker(std::uint32_t index) const { return *workers_[index]; }

  [[nodiscard]] JobMemory& memory() { return memory_; }

  [[nodiscard]] const WorkerNodes& nodes() const { return nodes_; }

  /// Number of this process in the job.
  [[nodiscard]] std::uint32_t process() const { return process_; }

  /// Sets the runner of records of a kind. Before the workers run.
  void set_runner(RecordKind kind, RecordRunner runner);

  /// Data of the packet runners; core does not use it.
  void set_packet_owner(void* owner) { packet_owner_ = owner; }

  [[nodiscard]] void* packet_owner() const { return packet_owner_; }

  /// Makes the calling thread worker 0, and its present flow of control the only fiber, instead of
  /// run(). Until detach_thread(), by the same thread.
  void attach_thread(Fiber& fiber);
  void detach_thread();

  /// Any thread: from now on `width` threads, 1 to worker_count(), run the workers; initially as
  /// many as workers. Workers migrate when their fibers wait; the call does not wait for that.
  void set_width(std::uint32_t width);

  [[nodiscard]] std::uint32_t width() const {
    // Acquire, pairs with set_width().
    return width_.load(std::memory_order_acquire);
  }

  /// Any thread: idle threads spin at most this long before they sleep.
  void limit_spin(std::int64_t ns) { spin_ns_max_.store(ns, std::memory_order_relaxed); }

  [[nodiscard]] std::int64_t spin_ns_max() const {
    // Relaxed: a hint.
    return spin_ns_max_.load(std::memory_order_relaxed);
  }

  /// Whether idle workers run fibers of others.
  [[nodiscard]] bool lends_fibers() const { return burst_limits_.has_value(); }

  [[nodiscard]] bool measures_fibers() const { return measures_fibers_; }

  /// On the thread of `requester`, in a fiber or not: all workers leave their fibers, and
  /// action.on_stopped() is called on one of their threads, while no worker runs. Then, or if a
  /// worker is late, action.on_resumed() is called on the requester's. False: another stop is not
  /// over. README.md, "Stops".
  [[nodiscard]] bool request_stop(Worker& requester, StopAction& action);

  /// While all workers are stopped: whether no record, call or fiber is on its way between workers.
  /// If other processes are not stopped, these may send at any time.
  [[nodiscard]] bool is_quiet() const;

  /// As is_quiet(), but records of other processes may wait.
  [[nodiscard]] bool is_quiet_inside() const;

  /// In a fiber of this scheduler: `count` further fibers will be started.
  void add_fibers(std::uint32_t count);

  /// While all workers are stopped: fibers have come from other processes, or gone there. One at
  /// least is left.
  void change_fiber_count(std::int32_t by);

  /// On a worker's thread: a fiber of run() will not be started after all.
  void drop_fiber() { note_fiber_end(); }

  /// When no worker runs: sums over all workers, and over bursts.
  [[nodiscard]] LoanCounts loan_counts() const;

  /// Runs `fiber_count` fibers to their end: as many as the hooks start in all.
  void run(std::uint32_t fiber_count);

  /// The idle source, or null. Any thread.
  [[nodiscard]] IdleSource* idle_source() const {
    // (I) acquire, pairs with set_idle_source().
    return idle_source_.load(std::memory_order_acquire);
  }

  /// The first source set stays for the life of the scheduler, and is returned. Any thread.
  IdleSource& set_idle_source(std::unique_ptr<IdleSource> source);

 private:
  friend class FiberThread;
  friend class Worker;
  friend class WorkerThread;

  [[nodiscard]] WorkerThread& thread(std::uint32_t index) { return *threads_[index]; }

  [[nodiscard]] const BurstLimits& burst_limits() const { return *burst_limits_; }

  [[nodiscard]] bool seems_to_stop() const { return stop_point_.seems_open(); }

  [[nodiscard]] std::optional<HeldStop> take_part_in_stop();
  void resume_requester(Worker& requester);
  [[nodiscard]] bool is_stop_over(const HeldStop& stop);
  void wait_for_stop(const HeldStop& stop);

  void place_memory();
  void place_thread(std::uint32_t index);
  void thread_main(std::uint32_t index);
  void stop();
  void note_started();
  void note_fiber_end();

  [[nodiscard]] bool is_stopping() const {
    // (S) acquire, pairs with the release in stop().
    return stopping_.load(std::memory_order_acquire);
  }

  // Any thread.
  alignas(cache_line_bytes) std::atomic<bool> stopping_{false};
  std::atomic<std::uint32_t> started_count_{0};
  /// 1: all have started. Workers that started earlier sleep on it.
  std::atomic<std::uint32_t> all_started_{0};
  alignas(cache_line_bytes) std::atomic<std::uint32_t> live_fiber_count_{0};
  alignas(cache_line_bytes) StopPoint stop_point_;
  /// True from a request until the requester has left its stop. Acquire and release: of the action.
  std::atomic<bool> is_stop_requested_{false};
  /// Written before the stop is opened.
  StopAction* stop_action_ = nullptr;
  alignas(cache_line_bytes) std::atomic<std::uint32_t> width_;
  std::atomic<std::int64_t> spin_ns_max_;

  // Constant while the workers run.
  alignas(cache_line_bytes) SchedulerHooks& hooks_;
  std::unique_ptr<JobMemory> own_memory_;
  JobMemory& memory_;
  const std::uint32_t process_;
  std::array<RecordRunner, record_kind_count> runners_{};
  void* packet_owner_ = nullptr;
  std::vector<int> cpus_;
  const WorkerNodes nodes_;
  bool may_move_;
  /// Indexed by the number of the worker. Empty if no thread is bound.
  std::vector<Binding> bindings_;
  bool measures_fibers_;
  /// Nothing: no fiber is lent.
  std::optional<BurstLimits> burst_limits_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<WorkerThread>> threads_;
  /// For each worker, its link in a list of migrated workers.
  std::vector<IndexList::Link> migration_links_;

  // Any thread, written once.
  alignas(cache_line_bytes) std::atomic<IdleSource*> idle_source_{nullptr};
};

}  // namespace sorrel::core
