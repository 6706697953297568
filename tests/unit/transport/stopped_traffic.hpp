//! StoppedTraffic - one process of a test of stops: its fibers send packets to workers of all other
//! processes, then wait for the next stop; a further fiber requests stops all the time.
//!
//! While the job is stopped, as many packets have been received as sent, and every process has
//! taken part in the same number of stops. A derived class owns run, transport and stop, and calls
//! add_fibers() when it has them.
#pragma once

#include <atomic>
#include <gtest/gtest.h>
#include <vector>

#include "base/prng.hpp"
#include "core/job_memory.hpp"
#include "core/job_stop.hpp"
#include "transport/transport.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::transport {

class StoppedTraffic : public core::JobStopAction {
 protected:
  StoppedTraffic(const core::JobShape& shape, std::uint32_t process)
      : shape_(shape), process_(process), counts_(shape.workers_per_process) {}

  void add_fibers(core::FiberRun& run,
                  Transport& transport,
                  core::JobStop& stop,
                  bool requests_stops) {
    stop.set_action(*this);
    transport.set_handler(
        packet_kind,
        [](void*, core::Worker& receiver, Endpoint, const Packet&, const std::byte*) {
          ++static_cast<Counts*>(receiver.user())->received;
        },
        nullptr);
    for (std::uint32_t i = 0; i < shape_.workers_per_process; ++i)
      run.add(i, [this, i](core::Worker& worker) { send(worker, counts_[i]); });
    if (!requests_stops) return;
    requester_ = &run.add(0, [this, &stop](core::Worker& worker) { request(worker, stop); });
  }

  /// First on each worker.
  void count_packets_of(core::Worker& worker) { worker.set_user(&counts_[worker.index()]); }

  /// In a fiber, before its first packet.
  virtual void before_packets() {}

  /// Sends a packet to a worker of another process; false if it has not left.
  virtual bool try_send(core::Worker& worker, Endpoint to, const Packet& packet) = 0;

  /// In the stop of that number, from 1.
  virtual void check_stop(core::JobStop& stop, std::uint64_t number) = 0;

  void on_job_resumed(core::Worker& requester, bool /*was_stopped*/) override {
    requester.make_ready(*requester_);
  }

  [[nodiscard]] const core::JobShape& shape() const { return shape_; }

  [[nodiscard]] std::uint32_t process() const { return process_; }

 private:
  static constexpr std::uint32_t packet_kind = 0;
  static constexpr std::uint64_t stop_count = 20;
  static constexpr int packets_per_round = 50;

  struct alignas(64) Counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  void send(core::Worker& worker, Counts& counts) {
    Prng random(process_ * 100 + worker.index() + 1);
    before_packets();
    for (std::uint64_t round = 0; round < stop_count; ++round) {
      for (int i = 0; i < packets_per_round; ++i) {
        const auto process = static_cast<std::uint32_t>(random.below(shape_.process_count));
        const auto index = static_cast<std::uint32_t>(random.below(shape_.workers_per_process));
        const Packet packet{.kind = packet_kind, .words = {}, .payload_bytes = 0};
        if (process != process_ && try_send(worker, {.process = process, .worker = index}, packet))
          ++counts.sent;
        worker.yield();
      }
      while (acted_count_.load(std::memory_order_relaxed) == round)
        worker.sleep(50'000);
    }
  }

  void request(core::Worker& worker, core::JobStop& stop) {
    while (acted_count_.load(std::memory_order_relaxed) < stop_count) {
      if (stop.request(worker)) {
        worker.suspend();
      } else {
        worker.yield();
      }
    }
  }

  void on_job_stopped(core::JobStop& stop) final {
    // The counts of this process, which no worker changes at this moment.
    Counts sum;
    for (const Counts& each : counts_) {
      sum.sent += each.sent;
      sum.received += each.received;
    }
    const std::uint64_t sent = stop.sum(sum.sent);
    EXPECT_EQ(sent, stop.sum(sum.received));
    // Relaxed: the stop orders it.
    const std::uint64_t acted = acted_count_.fetch_add(1, std::memory_order_relaxed) + 1;
    for (const std::uint64_t each : stop.exchange(acted))
      EXPECT_EQ(each, acted) << "a process has taken part in another number of stops";
    check_stop(stop, acted);
  }

  const core::JobShape shape_;
  const std::uint32_t process_;
  std::vector<Counts> counts_;
  core::Fiber* requester_ = nullptr;
  std::atomic<std::uint64_t> acted_count_{0};
};

}  // namespace sorrel::transport
