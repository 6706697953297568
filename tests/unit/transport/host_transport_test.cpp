#include "transport/host/host_transport.hpp"

#include <gtest/gtest.h>
#include <latch>
#include <thread>

#include "base/prng.hpp"
#include "core/completion.hpp"
#include "unit/core/fiber_run.hpp"
#include "unit/transport/fake_host.hpp"

namespace sorrel::transport {
namespace {

using core::Worker;

constexpr HostLimits narrow{
    .payload_bytes_max = 4096, .credits = 4, .send_slots = 4, .queue_count_max = 16};

/// What the handlers of a worker know.
struct Desk {
  explicit Desk(std::uint32_t worker_count) : next(worker_count) {}

  /// The number expected of each place.
  std::vector<std::uint32_t> next;
  std::uint32_t left = 0;
  std::uint32_t place_index = 0;
  std::uint32_t workers = 1;
  int wrong_count = 0;
  core::Completion all_taken;
};

void take_packet(void* /*owner*/,
                 Worker& receiver,
                 Endpoint from,
                 const Packet& packet,
                 const std::byte* payload) {
  Desk& desk = *static_cast<Desk*>(receiver.user());
  std::uint32_t& expected = desk.next[from.process * desk.workers + from.worker];
  const std::uint32_t bytes = packet.payload_bytes;
  const auto value = static_cast<std::byte>(expected);
  const bool is_right = packet.words[0] == expected && packet.words[1] == desk.place_index &&
                        (bytes == 0 || (payload[0] == value && payload[bytes - 1] == value));
  if (!is_right) ++desk.wrong_count;
  ++expected;
  if (--desk.left == 0) desk.all_taken.complete(receiver);
}

/// No process may report it: one of them always has work.
struct NeverAlone : QuietWatcher {
  std::string text_of_waits(std::size_t /*bytes_max*/) override { return {}; }

  void on_deadlock() override { ++alarm_count; }

  void on_end(int /*status*/) override {}

  std::atomic<int> alarm_count{0};
};

/// Every worker of every process sends to every worker of all others.
void all_to_all(std::uint32_t process_count,
                std::uint32_t workers,
                bool any_thread,
                std::uint32_t processes_per_node = 1) {
  constexpr std::uint32_t packet_count = 60;
  const std::uint64_t seed = core::test_seed();
  FakeHosts hosts(process_count, processes_per_node);
  NeverAlone watcher;
  const std::uint32_t worker_count = process_count * workers;
  std::vector<std::jthread> processes;
  std::atomic<int> wrong_count{0};
  // No process sends before all have posted their receives: this counts, and hosts need not.
  std::latch all_built(process_count);
  for (std::uint32_t process = 0; process < process_count; ++process) {
    processes.emplace_back([&, process] {
      core::FiberRun run(hosts.options(process, workers));
      HostJob job = hosts.job(process, any_thread);
      HostTransport transport(run.scheduler(), job, narrow);
      transport.quiet().set_watcher(&watcher);
      transport.quiet().set_pause(0);
      run.all_asleep = [&](Worker&) { transport.quiet().note_all_asleep(); };
      transport.set_handler(0, take_packet, nullptr);
      std::vector<std::unique_ptr<Desk>> desks;
      for (std::uint32_t w = 0; w < workers; ++w) {
        desks.push_back(std::make_unique<Desk>(worker_count));
        desks[w]->left = (process_count - 1) * workers * packet_count;
        desks[w]->place_index = process * workers + w;
        desks[w]->workers = workers;
        run.add(w, [&, w](Worker& worker) {
          Prng random(seed + process * 64 + w);
          std::vector<std::byte> payload(4096);
          for (std::uint32_t number = 0; number < packet_count; ++number) {
            for (std::uint32_t to = 0; to < worker_count; ++to) {
              if (to / workers == process) continue;
              const auto bytes = static_cast<std::uint32_t>(random.next() % 5000);
              const std::uint32_t used = bytes > 4096 ? 0 : bytes;
              std::fill_n(payload.begin(), used, static_cast<std::byte>(number));
              const Packet packet{.kind = 0, .words = {number, to, 0, 0}, .payload_bytes = used};
              const Endpoint place{.process = to / workers, .worker = to % workers};
              while (!transport.try_send(worker, place, packet, payload.data()))
                worker.sleep(20'000);
            }
          }
          desks[w]->all_taken.wait(worker);
        });
      }
      run.worker_start = [&](Worker& worker) {
        worker.set_user(desks[worker.index()].get());
        transport.start(worker);
      };
      all_built.arrive_and_wait();
      run.run();
      transport.finish();
      for (const auto& desk : desks)
        wrong_count += desk->wrong_count;
    });
  }
  processes.clear();
  EXPECT_EQ(wrong_count.load(), 0) << "seed " << seed;
  EXPECT_EQ(watcher.alarm_count.load(), 0) << "seed " << seed;
  EXPECT_EQ(hosts.unexpected_count(), 0);
}

TEST(HostTransportTest, PacketsOfAPairOfPlacesKeepTheirOrder) {
  all_to_all(2, 1, true);
  all_to_all(2, 3, true);
}

TEST(HostTransportTest, WorkersHandOverToTheFirstWhereTheHostWantsOneThread) {
  all_to_all(2, 3, false);
}

TEST(HostTransportTest, ThreeProcessesOfTwoWorkers) {
  all_to_all(3, 2, true);
}

TEST(HostTransportTest, NeighboursShareMemoryAndOthersTheHost) {
  all_to_all(4, 1, true, 2);
  all_to_all(3, 2, true, 2);
  all_to_all(4, 2, false, 3);
}

TEST(HostTransportTest, WhatGoesToANeighbourDoesNotTouchTheHost) {
  FakeHosts hosts(3, 2);
  std::vector<std::jthread> processes;
  std::latch all_built(3);
  for (std::uint32_t process = 0; process < 3; ++process) {
    processes.emplace_back([&, process] {
      core::FiberRun run(hosts.options(process, 1));
      HostJob job = hosts.job(process);
      HostTransport transport(run.scheduler(), job);
      EXPECT_EQ(transport.node_of(process), process == 2 ? 2U : 0U);
      EXPECT_EQ(transport.payload_bytes_max(1 - process % 2),
                process == 2 ? HostLimits{}.payload_bytes_max : core::Mailbox::payload_bytes_max);
      core::Completion came;
      transport.set_handler(
          0,
          [](void* owner, Worker& receiver, Endpoint from, const Packet&, const std::byte*) {
            EXPECT_EQ(from, (Endpoint{.process = 0, .worker = 0}));
            static_cast<core::Completion*>(owner)->complete(receiver);
          },
          &came);
      run.all_asleep = [](Worker&) {};
      run.worker_start = [&](Worker& worker) { transport.start(worker); };
      run.add(0, [&](Worker& worker) {
        if (process == 0) {
          EXPECT_TRUE(transport.try_send(worker, {.process = 1, .worker = 0}, {}, nullptr));
        }
        if (process == 1) came.wait(worker);
      });
      all_built.arrive_and_wait();
      run.run();
      transport.finish();
    });
  }
  processes.clear();
  EXPECT_EQ(hosts.count_of_kinds_from(0), 0);
}

TEST(HostTransportTest, ASleepingProcessSeesAPacketSoon) {
  FakeHosts hosts(2);
  std::vector<std::jthread> processes;
  for (std::uint32_t process = 0; process < 2; ++process) {
    processes.emplace_back([&, process] {
      core::FiberRun run(1, {.spin_ns_max = 0});
      HostJob job = hosts.job(process);
      HostTransport transport(run.scheduler(), job);
      transport.set_handler(
          0,
          [](void*, Worker& receiver, Endpoint, const Packet&, const std::byte*) {
            static_cast<core::Completion*>(receiver.user())->complete(receiver);
          },
          nullptr);
      core::Completion came;
      run.all_asleep = [](Worker&) {};
      run.worker_start = [&](Worker& worker) {
        worker.set_user(&came);
        transport.start(worker);
      };
      run.add(0, [&](Worker& worker) {
        for (int round = 0; round < 20; ++round) {
          // Long enough for the other to have gone to sleep.
          if (process == 0) worker.sleep(2'000'000);
          if (process == 1) came.wait(worker);
          if (process == 1) came.reset();
          EXPECT_TRUE(
              transport.try_send(worker, {.process = 1 - process, .worker = 0}, {}, nullptr));
          if (process == 0) came.wait(worker);
          if (process == 0) came.reset();
        }
      });
      run.run();
      transport.finish();
    });
  }
}

}  // namespace
}  // namespace sorrel::transport
