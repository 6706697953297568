//! FiberSet - fibers on one worker, for benchmarks whose measured code runs in a fiber.
//!
//! run() gives the calling thread to the worker until every fiber has ended. Benchmarks only.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/check.hpp"
#include "core/scheduler.hpp"
#include "os/stack_slab.hpp"

namespace sorrel::bench {

class FiberSet : public core::SchedulerHooks {
 public:
  using Body = std::function<void(core::Worker& worker, std::size_t index)>;

  FiberSet(std::size_t count, Body body)
      : slab_(count, stack_bytes), fibers_(count), seats_(count), body_(std::move(body)) {
    SORREL_CHECK(slab_.is_valid());
  }

  void run() {
    core::Scheduler scheduler({.worker_count = 1, .limits = {}, .cpus = {}}, *this);
    scheduler.run(static_cast<std::uint32_t>(fibers_.size()));
  }

  void on_worker_start(core::Worker& worker) override {
    for (std::size_t i = 0; i < fibers_.size(); ++i) {
      seats_[i] = {this, i};
      worker.start(fibers_[i], slab_.bottom(i), slab_.stack_bytes(), enter, &seats_[i]);
    }
  }

  void on_worker_end(core::Worker& /*worker*/) override {}

  void on_all_asleep() override { SORREL_CHECK(false); }

 private:
  static constexpr std::size_t stack_bytes = 65536;

  struct Seat {
    FiberSet* set;
    std::size_t index;
  };

  static void enter(void* argument) {
    const Seat& seat = *static_cast<Seat*>(argument);
    seat.set->body_(*core::Worker::current(), seat.index);
  }

  os::StackSlab slab_;
  std::vector<core::Fiber> fibers_;
  std::vector<Seat> seats_;
  Body body_;
};

}  // namespace sorrel::bench
