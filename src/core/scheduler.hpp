//! Scheduler - the workers of one process, and the two facts that concern all of them: who sleeps,
//! and when it is over.
//!
//! A job may have several processes, each with a scheduler of its own; then its workers' boards and
//! mailboxes lie in memory that they share (core/job_memory.hpp), and "every worker" below means
//! every worker of the job.
//!
//! run() starts a thread per worker (the caller's thread is worker 0) and returns when every fiber
//! has ended. When every worker sleeps and no timer is set but looks (Timer::is_look), nobody here
//! is left who could wake anybody: the all-asleep hook is called by the last one to lie down
//! (README.md, "Nobody is left"). The hook may stop the process or return, in which case the
//! workers sleep on.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/cache_line.hpp"
#include "core/worker.hpp"
#include "core/worker_thread.hpp"

namespace sorrel::core {

struct SchedulerOptions {
  std::uint32_t worker_count = 1;
  WorkerLimits limits;
  /// CPU number for each worker; empty: not bound.
  std::vector<int> cpus;
  /// The workers begin on their cpus, and the system may move them.
  bool may_move = false;
  /// The memory of a job of several processes, which outlives the scheduler, and which of them this
  /// is; null for a job of one.
  JobMemory* memory = nullptr;
  std::uint32_t process = 0;
  /// Of one worker alone: its order and its clock are functions of this number.
  std::optional<std::uint64_t> seed = std::nullopt;
};

/// What the owner of a scheduler wants to be told. All run on a worker's thread, outside of any
/// fiber.
class SchedulerHooks {
 public:
  virtual ~SchedulerHooks() = default;

  /// First and last on each thread of the scheduler.
  virtual void on_thread_start() {}

  virtual void on_thread_end() {}

  /// Then, on each worker's own thread: create its fibers. No fiber runs before every worker's
  /// start has returned.
  virtual void on_worker_start(Worker& worker) = 0;

  /// Once, when every worker's start has returned and no fiber has run.
  virtual void on_all_started() {}

  virtual void on_worker_end(Worker& worker) = 0;
  /// Every worker sleeps, no timer is set but looks (with those: again and again), and fibers still
  /// wait. The calling worker counts as asleep: a hook that wakes others wakes it first.
  virtual void on_all_asleep() = 0;

  /// Another process of the job, in its on_all_asleep(), wants to know what our fibers wait for.
  virtual void on_report_wanted() {}
};

/// Work for idle workers that no fiber waits for yet: parallel loops.
class IdleSource {
 public:
  virtual ~IdleSource() = default;
  /// On an idle worker's thread, again and again, the last time when it is about to sleep: makes a
  /// fiber of this worker ready if there is something to do, and returns whether. Never suspends.
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

  [[nodiscard]] JobMemory& memory() { return memory_; }

  /// Which process of the job this is.
  [[nodiscard]] std::uint32_t process() const { return process_; }

  /// Before the workers run: what is done with records of a kind.
  void set_runner(RecordKind kind, RecordRunner runner);

  /// What the runners of packets keep; the core does not look at it.
  void set_packet_owner(void* owner) { packet_owner_ = owner; }

  [[nodiscard]] void* packet_owner() const { return packet_owner_; }

  /// Makes the calling thread worker 0, and what runs there its only fiber, instead of run().
  /// Until leave(), by the same thread.
  void adopt(Fiber& fiber);
  void leave();

  /// Any thread: from now on `width` threads, 1 to worker_count(), run the workers; at first as
  /// many as workers. They change over as their fibers wait; nobody waits for it.
  void set_width(std::uint32_t width);

  [[nodiscard]] std::uint32_t width() const {
    // Acquire, pairs with set_width().
    return width_.load(std::memory_order_acquire);
  }

  /// Any thread: idle threads spin no longer than this before they sleep.
  void limit_spin(std::int64_t ns) { spin_ns_max_.store(ns, std::memory_order_relaxed); }

  [[nodiscard]] std::int64_t spin_ns_max() const {
    // Relaxed: a hint.
    return spin_ns_max_.load(std::memory_order_relaxed);
  }

  /// Runs `fiber_count` fibers to their end: as many as the hooks start in all.
  void run(std::uint32_t fiber_count);

  /// The idle source, or null. Any thread.
  [[nodiscard]] IdleSource* idle_source() const {
    // (I) acquire, pairs with set_idle_source().
    return idle_source_.load(std::memory_order_acquire);
  }

  /// The first source set stays for as long as the scheduler lives, and is returned. Any thread.
  IdleSource& set_idle_source(std::unique_ptr<IdleSource> source);

 private:
  friend class Worker;
  friend class WorkerThread;

  [[nodiscard]] WorkerThread& thread(std::uint32_t index) { return *threads_[index]; }

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
  /// 1: all have. What those sleep on who were earlier.
  std::atomic<std::uint32_t> all_started_{0};
  alignas(cache_line_bytes) std::atomic<std::uint32_t> live_fiber_count_{0};
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
  bool may_move_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::unique_ptr<WorkerThread>> threads_;
  /// Of the list of handed workers that a worker is in.
  std::vector<IndexList::Link> handing_links_;

  // Any thread, written once.
  alignas(cache_line_bytes) std::atomic<IdleSource*> idle_source_{nullptr};
};

}  // namespace sorrel::core
