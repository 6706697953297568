//! FiberRun - runs functions as fibers of a scheduler made for one test.
//!
//! Add the fibers, then run(): it returns when all have ended. All workers asleep is a failure that
//! ends the process, unless the test sets `all_asleep`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/scheduler.hpp"
#include "os/stack_slab.hpp"

namespace sorrel::core {

class FiberRun : public SchedulerHooks {
 public:
  using Body = std::function<void(Worker&)>;

  explicit FiberRun(std::uint32_t worker_count = 1, WorkerLimits limits = {})
      : FiberRun(SchedulerOptions{.worker_count = worker_count, .limits = limits, .cpus = {}}) {}

  explicit FiberRun(const SchedulerOptions& options) : scheduler_(options, *this) {}

  /// Adds a fiber of the worker; the fibers of a worker first run in the order of adding.
  Fiber& add(std::uint32_t worker_index, Body body) {
    auto& job = *jobs_.emplace_back(std::make_unique<Job>());
    job.worker_index = worker_index;
    job.body = std::move(body);
    return job.fiber;
  }

  void run() {
    stacks_ = std::make_unique<os::StackSlab>(std::max<std::size_t>(jobs_.size(), 1), stack_bytes);
    SORREL_CHECK(stacks_->is_valid());
    scheduler_.run(static_cast<std::uint32_t>(jobs_.size()));
    for (auto& job : jobs_) {
      SORREL_CHECK(job->fiber.state == FiberState::ended);
      job->fiber.sanitizer.destroy();
    }
  }

  [[nodiscard]] Scheduler& scheduler() { return scheduler_; }

  [[nodiscard]] Worker& worker(std::uint32_t index) { return scheduler_.worker(index); }

  /// What the last worker to fall asleep does.
  std::function<void(Worker&)> all_asleep;
  /// First on each worker.
  std::function<void(Worker&)> worker_start;
  std::function<void()> all_started;
  /// On a worker that has been called away.
  std::function<void(Worker&)> called;

 private:
  static constexpr std::size_t stack_bytes = std::size_t{256} << 10;

  struct Job {
    Fiber fiber;
    std::uint32_t worker_index = 0;
    Body body;
  };

  static void enter(void* argument) {
    auto& job = *static_cast<Job*>(argument);
    job.body(*job.fiber.worker);
  }

  void on_worker_start(Worker& worker) override {
    if (worker_start) worker_start(worker);
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      Job& job = *jobs_[i];
      if (job.worker_index == worker.index())
        worker.start(job.fiber, stacks_->bottom(i), stacks_->stack_bytes(), enter, &job);
    }
  }

  void on_all_started() override {
    if (all_started) all_started();
  }

  void on_worker_end(Worker& /*worker*/) override {}

  void on_attention(Worker& worker) override {
    if (called) called(worker);
  }

  /// Guests of a test call again.
  bool has_threads_outside(Worker& /*worker*/) override { return true; }

  void on_all_asleep() override {
    if (!all_asleep) {
      std::fprintf(stderr, "every worker sleeps, unexpectedly\n");
      std::abort();
    }
    all_asleep(*Worker::current());
  }

  std::vector<std::unique_ptr<Job>> jobs_;
  std::unique_ptr<os::StackSlab> stacks_;
  Scheduler scheduler_;
};

/// The seed of a random test: SORREL_SEED or a fresh one; printed.
inline std::uint64_t test_seed() {
  const char* given = std::getenv("SORREL_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "SORREL_SEED=" << seed << "\n";
  return seed;
}

}  // namespace sorrel::core
