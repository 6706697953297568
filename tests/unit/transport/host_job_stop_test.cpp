// Stops of a job over a host MPI: every process acts while no worker of any process runs, and no
// packet is in flight; and what processes give each other meanwhile.
#include "transport/host/host_job_stop.hpp"

#include <gtest/gtest.h>
#include <latch>
#include <thread>

#include "base/prng.hpp"
#include "unit/transport/fake_host.hpp"
#include "unit/transport/stopped_traffic.hpp"

namespace sorrel::transport {
namespace {

using core::JobStop;
using core::Worker;

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

/// Every process requests stops.
class HostTraffic : public StoppedTraffic {
 public:
  HostTraffic(FakeHosts& hosts, const Shape& shape, std::uint32_t process)
      : StoppedTraffic({.process_count = shape.process_count, .workers_per_process = shape.workers},
                       process),
        run_(hosts.options(process, shape.workers)),
        job_(hosts.job(process)),
        transport_(run_.scheduler(), job_),
        stop_(run_.scheduler(), transport_, job_) {
    run_.all_asleep = [](Worker&) {};
    run_.worker_start = [this](Worker& worker) {
      count_packets_of(worker);
      transport_.start(worker);
    };
    add_fibers(run_, transport_, stop_, true);
  }

  void run() {
    run_.run();
    transport_.finish();
  }

 private:
  bool try_send(Worker& worker, Endpoint to, const Packet& packet) override {
    return transport_.try_send(worker, to, packet, nullptr);
  }

  void check_stop(JobStop& stop, std::uint64_t number) override {
    std::vector<JobStop::Parcel> parcels;
    std::vector<std::uint32_t> senders;
    for (std::uint32_t other = 0; other < shape().process_count; ++other) {
      if (other == process() || (other + process() + number) % 2 == 0) continue;
      parcels.push_back({.process = other, .bytes = text_for(process(), other, number)});
      senders.push_back(other);
    }
    const auto texts = stop.exchange_parcels(parcels, senders);
    ASSERT_TRUE(texts.has_value());
    for (std::size_t i = 0; i < senders.size(); ++i)
      EXPECT_EQ((*texts)[i], text_for(senders[i], process(), number));
  }

  core::FiberRun run_;
  HostJob job_;
  HostTransport transport_;
  HostJobStop stop_;
};

void run(const Shape& shape) {
  FakeHosts hosts(shape.process_count, shape.processes_per_node);
  std::vector<std::jthread> processes;
  std::latch all_built(shape.process_count);
  for (std::uint32_t process = 0; process < shape.process_count; ++process) {
    processes.emplace_back([&, process] {
      HostTraffic traffic(hosts, shape, process);
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
