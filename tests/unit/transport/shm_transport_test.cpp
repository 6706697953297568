#include "transport/shm/shm_transport.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>

#include "base/prng.hpp"
#include "core/completion.hpp"
#include "unit/transport/processes.hpp"

namespace sorrel::transport {
namespace {

using core::Worker;

constexpr core::JobShape two_by_one{.process_count = 2, .workers_per_process = 1};

/// What a handler leaves for the fiber that waits: one worker's.
struct Inbox {
  std::uint32_t taken_count = 0;
  std::uint32_t expected_count = 0;
  core::Completion all_taken;
};

/// Handlers find it by the worker.
Inbox& inbox_of(Worker& worker) {
  return *static_cast<Inbox*>(worker.user());
}

/// Before the workers run: a packet may come before the first fiber.
void give(OneProcess& self, Inbox& inbox) {
  self.run.worker_start = [&inbox](Worker& worker) { worker.set_user(&inbox); };
}

void count_one(Worker& receiver) {
  Inbox& inbox = inbox_of(receiver);
  if (++inbox.taken_count == inbox.expected_count) inbox.all_taken.complete(receiver);
}

/// Sends when there is room. May suspend.
void send(
    OneProcess& self, Worker& worker, Endpoint to, const Packet& packet, const void* payload) {
  while (!self.transport.try_send(worker, to, packet, payload))
    worker.sleep(20'000);
}

std::vector<std::byte> payload_of(std::uint64_t seed, std::size_t bytes) {
  Prng prng(seed);
  std::vector<std::byte> payload(bytes);
  for (std::byte& byte : payload)
    byte = static_cast<std::byte>(prng.next());
  return payload;
}

TEST(ShmTransportTest, APacketArrivesWithItsWordsItsPayloadAndItsSender) {
  Processes processes(two_by_one);
  processes.run([](OneProcess& self, std::uint32_t process) {
    Inbox inbox{.taken_count = 0, .expected_count = 1, .all_taken = {}};
    self.transport.set_handler(
        3,
        [](void*, Worker& receiver, Endpoint from, const Packet& packet, const std::byte* payload) {
          EXPECT_EQ(from, (Endpoint{.process = 0, .worker = 0}));
          EXPECT_EQ(packet.kind, 3U);
          EXPECT_EQ(packet.words, (std::array<std::uint32_t, 4>{1, 2, 3, 4}));
          const auto expected = payload_of(1, 4096);
          ASSERT_EQ(packet.payload_bytes, expected.size());
          EXPECT_EQ(std::memcmp(payload, expected.data(), expected.size()), 0);
          count_one(receiver);
        },
        nullptr);
    give(self, inbox);
    self.run.add(0, [&](Worker& worker) {
      if (process == 0) {
        const auto payload = payload_of(1, 4096);
        send(self, worker, {.process = 1, .worker = 0},
             {.kind = 3, .words = {1, 2, 3, 4}, .payload_bytes = 4096}, payload.data());
      } else {
        inbox.all_taken.wait(worker);
      }
    });
    self.run.run();
  });
}

TEST(ShmTransportTest, PacketsWakeASleepingProcess) {
  Processes processes(two_by_one);
  processes.run([](OneProcess& self, std::uint32_t process) {
    constexpr std::uint32_t round_count = 2000;
    Inbox inbox;
    self.transport.set_handler(
        0,
        [](void*, Worker& receiver, Endpoint, const Packet&, const std::byte*) {
          inbox_of(receiver).all_taken.complete(receiver);
        },
        nullptr);
    give(self, inbox);
    self.run.add(0, [&](Worker& worker) {
      const Endpoint other{.process = 1 - process, .worker = 0};
      for (std::uint32_t round = 0; round < round_count; ++round) {
        if (process == 0) send(self, worker, other, {.kind = 0}, nullptr);
        inbox.all_taken.wait(worker);
        inbox.all_taken.reset();
        if (process == 1) send(self, worker, other, {.kind = 0}, nullptr);
      }
    });
    self.run.run();
  });
}

TEST(ShmTransportTest, PullsFromAnotherProcessInOneCopy) {
  Processes processes(two_by_one);
  processes.run([](OneProcess& self, std::uint32_t process) {
    static constexpr std::size_t bytes = std::size_t{3} << 20;
    static ShmTransport* transport;
    transport = &self.transport;
    Inbox inbox{.taken_count = 0, .expected_count = 1, .all_taken = {}};
    const auto content = payload_of(7, bytes);
    self.transport.set_handler(
        0,
        [](void*, Worker& receiver, Endpoint from, const Packet& packet, const std::byte*) {
          std::uintptr_t source = 0;
          std::memcpy(&source, packet.words.data(), sizeof source);
          ASSERT_TRUE(transport->can_pull(from.process));
          std::vector<std::byte> copy(bytes);
          EXPECT_TRUE(transport->pull(from.process, copy.data(), source, bytes));
          EXPECT_EQ(copy, payload_of(7, bytes));
          EXPECT_FALSE(transport->pull(from.process, copy.data(), 16, 8)) << "no such address";
          EXPECT_TRUE(transport->try_send(receiver, from, {.kind = 1}, nullptr));
          count_one(receiver);
        },
        nullptr);
    self.transport.set_handler(
        1,
        [](void*, Worker& receiver, Endpoint, const Packet&, const std::byte*) {
          count_one(receiver);
        },
        nullptr);
    give(self, inbox);
    self.run.add(0, [&](Worker& worker) {
      if (process == 0) {
        Packet packet{.kind = 0};
        const std::byte* address = content.data();
        std::memcpy(packet.words.data(), &address, sizeof address);
        send(self, worker, {.process = 1, .worker = 0}, packet, nullptr);
      }
      inbox.all_taken.wait(worker);
    });
    self.run.run();
  });
}

TEST(ShmTransportTest, SaysThatItCannotPullWhereThatIsForbidden) {
  const auto memory = make_shared_memory(two_by_one);
  OneProcess self(*memory, 0, ShmTransport::Pulling::never);
  EXPECT_FALSE(self.transport.can_pull(1));
}

TEST(ShmTransportTest, AProcessThatHasNotStartedIsAskedAgainLater) {
  const auto memory = make_shared_memory(two_by_one);
  OneProcess self(*memory, 0, ShmTransport::Pulling::when_allowed);
  EXPECT_FALSE(self.transport.can_pull(1));
  OneProcess other(*memory, 1, ShmTransport::Pulling::when_allowed);
  EXPECT_TRUE(self.transport.can_pull(1));
}

TEST(ShmTransportTest, WhatFindsNoRoomAtAWorkerThatHasEndedIsDropped) {
  Processes processes(two_by_one);
  processes.run([&](OneProcess& self, std::uint32_t process) {
    self.transport.set_handler(
        0, [](void*, Worker&, Endpoint, const Packet&, const std::byte*) {}, nullptr);
    self.run.add(0, [&](Worker& worker) {
      if (process == 1) return;
      for (int i = 0; i < 1000; ++i)
        send(self, worker, {.process = 1, .worker = 0}, {.kind = 0}, nullptr);
    });
    self.run.run();
  });
}

TEST(ShmTransportTest, WhenEveryWorkerOfEveryProcessSleepsOneIsToldOnce) {
  Processes processes({.process_count = 3, .workers_per_process = 2});
  // Shared by the processes, as the memory is.
  auto& told_count = *static_cast<std::atomic<int>*>(
      mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  processes.run([&](OneProcess& self, std::uint32_t process) {
    Inbox inbox;
    core::RemoteCall own_end{
        .run = [](Worker& receiver,
                  core::RemoteCall&) { inbox_of(receiver).all_taken.complete(receiver); },
        .next = nullptr};
    self.transport.set_handler(
        0,
        [](void*, Worker& receiver, Endpoint, const Packet&, const std::byte*) {
          Inbox& own = inbox_of(receiver);
          if (!own.all_taken.is_done()) own.all_taken.complete(receiver);
        },
        nullptr);
    self.run.all_asleep = [&](Worker& worker) {
      told_count.fetch_add(1);
      // First: until then it counts as asleep, and a worker that ends meanwhile finds all asleep
      // again.
      worker.wake();
      // Ends all workers that still wait, this one too.
      for (std::uint32_t other = 0; other < 2; ++other) {
        if (other != process) {
          EXPECT_TRUE(self.transport.try_send(worker, {.process = other, .worker = 0}, {.kind = 0},
                                              nullptr));
        }
      }
      if (process >= 2) return;
      if (worker.index() == 0) {
        inbox.all_taken.complete(worker);
      } else {
        worker.post(self.run.worker(0), own_end);
      }
    };
    // Process 2 has no waiting worker and ends at once; worker 1 of the others has no fibers.
    give(self, inbox);
    self.run.add(0, [&](Worker& worker) {
      if (process < 2) inbox.all_taken.wait(worker);
    });
    self.run.run();
  });
  EXPECT_EQ(told_count.load(), 1);
}

/// Every place sends numbered packets of random sizes to random places, each of which checks the
/// order of each sender and the content. The last packet to each place says how many there were.
class Traffic {
 public:
  Traffic(OneProcess& self, std::uint32_t process, std::uint64_t seed)
      : self_(self),
        process_(process),
        seed_(seed),
        shape_(self.run.scheduler().memory().shape()),
        boxes_(shape_.workers_per_process) {
    for (Box& box : boxes_) {
      box.next_number.resize(shape_.worker_count());
      // A place hears from all places of other processes.
      box.open_count = shape_.worker_count() - shape_.workers_per_process;
    }
    self.transport.set_handler(0, take, this);
    for (std::uint32_t i = 0; i < shape_.workers_per_process; ++i) {
      self.run.add(i, [this](Worker& worker) { send_all(worker); });
      self.run.add(i, [this](Worker& worker) { boxes_[worker.index()].all_closed.wait(worker); });
    }
  }

  void run() { self_.run.run(); }

 private:
  static constexpr std::uint32_t packet_count = 3000;

  struct Box {
    std::vector<std::uint32_t> next_number;
    std::uint32_t open_count = 0;
    core::Completion all_closed;
  };

  // Words: number, seed of the payload, whether it is the last.
  static void take(void* owner,
                   Worker& receiver,
                   Endpoint from,
                   const Packet& packet,
                   const std::byte* payload) {
    Box& box = static_cast<Traffic*>(owner)->boxes_[receiver.index()];
    const std::uint32_t workers = receiver.scheduler().worker_count();
    std::uint32_t& next = box.next_number[from.process * workers + from.worker];
    EXPECT_EQ(packet.words[0], next);
    ++next;
    const auto expected = payload_of(packet.words[1], packet.payload_bytes);
    EXPECT_EQ(std::memcmp(payload, expected.data(), expected.size()), 0);
    if (packet.words[2] != 0 && --box.open_count == 0) box.all_closed.complete(receiver);
  }

  void send_all(Worker& worker) {
    Prng prng(seed_ + worker.id());
    std::vector<std::uint32_t> numbers(shape_.worker_count());
    for (std::uint32_t i = 0; i < packet_count; ++i) {
      const auto to = static_cast<std::uint32_t>(prng.next() % shape_.worker_count());
      send_one(worker, to, numbers, prng, false);
    }
    for (std::uint32_t to = 0; to < shape_.worker_count(); ++to)
      send_one(worker, to, numbers, prng, true);
  }

  void send_one(Worker& worker,
                std::uint32_t to,
                std::vector<std::uint32_t>& numbers,
                Prng& prng,
                bool is_last) {
    const Endpoint place{.process = to / shape_.workers_per_process,
                         .worker = to % shape_.workers_per_process};
    if (place.process == process_) return;
    const auto payload_seed = static_cast<std::uint32_t>(prng.next());
    const auto bytes = static_cast<std::uint32_t>(
        prng.next() % (prng.next() % 4 == 0 ? self_.transport.payload_bytes_max(0) + 1 : 130));
    const auto payload = payload_of(payload_seed, bytes);
    const Packet packet{.kind = 0,
                        .words = {numbers[to]++, payload_seed, is_last ? 1U : 0U, 0},
                        .payload_bytes = bytes};
    send(self_, worker, place, packet, payload.data());
  }

  OneProcess& self_;
  const std::uint32_t process_;
  const std::uint64_t seed_;
  const core::JobShape shape_;
  std::vector<Box> boxes_;
};

TEST(ShmStressTest, RandomTrafficBetweenProcesses) {
  const std::uint64_t seed = core::test_seed();
  for (const core::JobShape& shape : {two_by_one, core::JobShape{3, 2}, core::JobShape{8, 1}}) {
    Processes processes(shape);
    processes.run([&](OneProcess& self, std::uint32_t process) {
      Traffic traffic(self, process, seed);
      traffic.run();
    });
  }
}

// Traffic inside one process, where the thread sanitizer sees both sides.
TEST(ShmStressTest, RandomTrafficBetweenTwoSchedulersOfOneProcess) {
  const std::uint64_t seed = core::test_seed();
  const auto memory = make_shared_memory({.process_count = 2, .workers_per_process = 2});
  OneProcess first(*memory, 0, ShmTransport::Pulling::when_allowed);
  OneProcess second(*memory, 1, ShmTransport::Pulling::when_allowed);
  Traffic first_traffic(first, 0, seed);
  Traffic second_traffic(second, 1, seed);
  std::jthread thread([&] { second_traffic.run(); });
  first_traffic.run();
}

TEST(JobMemoryTest, ZeroedMemoryIsAnEmptyMailbox) {
  const auto made = std::make_unique<core::Mailbox>();
  const std::vector<std::byte> zeros(sizeof(core::Mailbox));
  EXPECT_EQ(std::memcmp(made.get(), zeros.data(), zeros.size()), 0);
  EXPECT_EQ(core::Parker::State::awake, 0U);
}

TEST(JobMemoryTest, SixtyFourPlacesTakeAQuarterOfAGigabyteOfAddresses) {
  EXPECT_LE(core::JobMemory::bytes_needed({.process_count = 64, .workers_per_process = 1}),
            std::size_t{256} << 20);
  EXPECT_EQ(core::JobMemory::bytes_needed({.process_count = 4, .workers_per_process = 16}) >> 20,
            core::JobMemory::bytes_needed({.process_count = 64, .workers_per_process = 1}) >> 20);
}

TEST(JobMemoryTest, TheFirstToEndTheJobIsRemembered) {
  const auto memory = make_shared_memory({.process_count = 4, .workers_per_process = 1});
  EXPECT_EQ(memory->ending_process(), -1);
  EXPECT_TRUE(memory->claim_ending(2));
  EXPECT_FALSE(memory->claim_ending(1));
  EXPECT_EQ(memory->ending_process(), 2);
}

}  // namespace
}  // namespace sorrel::transport
