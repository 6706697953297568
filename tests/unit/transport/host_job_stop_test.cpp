// Stops of a job over a host MPI: every process acts while no worker of any process runs, and no
// packet is in flight; and what processes give each other meanwhile.
#include "transport/host/host_job_stop.hpp"

#include <gtest/gtest.h>
#include <latch>
#include <thread>

#include "base/prng.hpp"
#include "unit/core/fiber_run.hpp"
#include "unit/transport/fake_host.hpp"

namespace sorrel::transport {
namespace {

using core::JobStop;
using core::Worker;

constexpr std::uint32_t action_number = 1;
constexpr std::uint32_t packet_kind = 0;
constexpr std::uint64_t stop_count = 20;
constexpr int packets_per_round = 50;

struct Shape {
  std::uint32_t process_count;
  std::uint32_t workers;
  std::uint32_t processes_per_node = 1;
};

/// The text that one process has for another one: longer than a chunk, at times.
std::string text_for(std::uint32_t from, std::uint32_t to, std::uint64_t stop) {
  return std::string((from * 7919 + to * 104729 + stop * 31) % (3 * HostStreams::chunk_bytes),
                     static_cast<char>('a' + (from + to) % 26));
}

/// One process: fibers send packets to workers of all other processes, then wait for the next stop;
/// another one requests the stops.
class Traffic : public core::JobStopAction {
 public:
  Traffic(FakeHosts& hosts, const Shape& shape, std::uint32_t process)
      : shape_(shape),
        process_(process),
        run_(hosts.options(process, shape.workers)),
        job_(hosts.job(process)),
        transport_(run_.scheduler(), job_),
        stop_(run_.scheduler(), transport_, job_),
        counts_(shape.workers) {
    stop_.set_action(action_number, *this);
    run_.all_asleep = [](Worker&) {};
    run_.worker_start = [this](Worker& worker) {
      worker.set_user(&counts_[worker.index()]);
      transport_.start(worker);
    };
    transport_.set_handler(
        packet_kind,
        [](void*, Worker& receiver, Endpoint, const Packet&, const std::byte*) {
          ++static_cast<Counts*>(receiver.user())->received;
        },
        nullptr);
    for (std::uint32_t i = 0; i < shape.workers; ++i)
      run_.add(i, [this, i](Worker& worker) { send(worker, counts_[i]); });
    requester_ = &run_.add(0, [this](Worker& worker) { request(worker); });
  }

  void run() {
    run_.run();
    transport_.finish();
  }

 private:
  struct alignas(64) Counts {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  void send(Worker& worker, Counts& counts) {
    Prng random(process_ * 100 + worker.index() + 1);
    for (std::uint64_t round = 0; round < stop_count; ++round) {
      for (int i = 0; i < packets_per_round; ++i) {
        const auto process = static_cast<std::uint32_t>(random.below(shape_.process_count));
        const auto index = static_cast<std::uint32_t>(random.below(shape_.workers));
        const Packet packet{.kind = packet_kind, .words = {}, .payload_bytes = 0};
        if (process != process_ &&
            transport_.try_send(worker, {.process = process, .worker = index}, packet, nullptr))
          ++counts.sent;
        worker.yield();
      }
      while (acted_count_.load(std::memory_order_relaxed) == round)
        worker.sleep(50'000);
    }
  }

  void request(Worker& worker) {
    while (acted_count_.load(std::memory_order_relaxed) < stop_count) {
      if (stop_.request(worker, action_number)) {
        worker.suspend();
      } else {
        worker.yield();
      }
    }
  }

  void on_job_stopped(JobStop& stop) override {
    // Of this process, which no worker changes at this moment.
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
    exchange_texts(stop, acted);
  }

  void exchange_texts(JobStop& stop, std::uint64_t acted) {
    std::vector<JobStop::Parcel> parcels;
    std::vector<std::uint32_t> senders;
    for (std::uint32_t other = 0; other < shape_.process_count; ++other) {
      if (other == process_ || (other + process_ + acted) % 2 == 0) continue;
      parcels.push_back({.process = other, .bytes = text_for(process_, other, acted)});
      senders.push_back(other);
    }
    const auto texts = stop.exchange_parcels(parcels, senders);
    ASSERT_TRUE(texts.has_value());
    for (std::size_t i = 0; i < senders.size(); ++i)
      EXPECT_EQ((*texts)[i], text_for(senders[i], process_, acted));
  }

  void on_job_resumed(Worker& requester, bool /*was_stopped*/) override {
    requester.make_ready(*requester_);
  }

  const Shape shape_;
  const std::uint32_t process_;
  core::FiberRun run_;
  HostJob job_;
  HostTransport transport_;
  HostJobStop stop_;
  std::vector<Counts> counts_;
  core::Fiber* requester_ = nullptr;
  std::atomic<std::uint64_t> acted_count_{0};
};

void run(const Shape& shape) {
  FakeHosts hosts(shape.process_count, shape.processes_per_node);
  std::vector<std::jthread> processes;
  std::latch all_built(shape.process_count);
  for (std::uint32_t process = 0; process < shape.process_count; ++process) {
    processes.emplace_back([&, process] {
      Traffic traffic(hosts, shape, process);
      all_built.arrive_and_wait();
      traffic.run();
    });
  }
}

TEST(HostJobStopTest, NothingIsInFlightBetweenTwoProcesses) {
  run({.process_count = 2, .workers = 1});
}

TEST(HostJobStopTest, NothingIsInFlightBetweenProcessesWithSeveralWorkers) {
  run({.process_count = 3, .workers = 2});
}

TEST(HostJobStopTest, NothingIsInFlightBetweenNeighboursAndOthers) {
  run({.process_count = 4, .workers = 2, .processes_per_node = 2});
}

/// Every process sends to every other one, in ranges of all lengths.
TEST(HostStreamsTest, RangesArriveWhereverTheirEndsAre) {
  // More than are in flight at a time.
  constexpr std::uint32_t process_count = 20;
  constexpr std::size_t bytes_each = 2 * HostStreams::chunk_bytes + 100;
  FakeHosts hosts(process_count);
  std::vector<std::jthread> processes;
  for (std::uint32_t process = 0; process < process_count; ++process) {
    processes.emplace_back([&hosts, process] {
      HostJob job = hosts.job(process);
      HostStreams streams(*job.api, job.host);
      std::vector<std::vector<std::byte>> out(process_count);
      std::vector<std::vector<std::byte>> in(process_count);
      std::vector<JobStop::Shipment> sent;
      std::vector<JobStop::Shipment> awaited;
      Prng random(process + 1);
      const auto cut = [&](std::vector<std::byte>& bytes) {
        std::vector<os::MemoryRange> ranges;
        auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
        const std::uintptr_t end = at + bytes.size();
        while (at < end) {
          const std::uintptr_t next =
              std::min<std::uintptr_t>(end, at + 1 + random.below(HostStreams::chunk_bytes));
          ranges.push_back({at, next});
          at = next;
        }
        return ranges;
      };
      for (std::uint32_t other = 0; other < process_count; ++other) {
        if (other == process) continue;
        out[other].resize(bytes_each + other * process);
        in[other].resize(out[other].size());
        for (std::size_t i = 0; i < out[other].size(); ++i)
          out[other][i] = static_cast<std::byte>(i * 7 + process * 3 + other);
        sent.push_back({.process = other, .memory = cut(out[other])});
        awaited.push_back({.process = other, .memory = cut(in[other])});
      }
      streams.run(sent, awaited);
      for (std::uint32_t other = 0; other < process_count; ++other) {
        for (std::size_t i = 0; i < in[other].size(); ++i)
          ASSERT_EQ(in[other][i], static_cast<std::byte>(i * 7 + other * 3 + process));
      }
    });
  }
}

}  // namespace
}  // namespace sorrel::transport
