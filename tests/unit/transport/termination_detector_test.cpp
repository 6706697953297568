#include "transport/host/termination_detector.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <latch>
#include <thread>

#include "core/completion.hpp"
#include "unit/core/fiber_run.hpp"
#include "unit/transport/fake_host.hpp"

namespace sorrel::transport {
namespace {

using core::Worker;
using Outcome = TerminationRounds::Outcome;

TEST(QuietRoundsTest, NobodyIsLeftWhenTwoRoundsGiveTheSameSums) {
  TerminationRounds rounds(2);
  const QuietCounts first{.sent = 3, .taken = 1, .waiting = 1};
  const QuietCounts second{.sent = 1, .taken = 3, .waiting = 1};
  std::uint32_t round = rounds.begin();
  EXPECT_EQ(rounds.take(round, first), Outcome::open);
  EXPECT_EQ(rounds.take(round, second), Outcome::still);
  round = rounds.begin();
  EXPECT_EQ(rounds.take(round, second), Outcome::open);
  EXPECT_EQ(rounds.take(round, first), Outcome::over);
}

TEST(QuietRoundsTest, APacketUnderWayIsSomethingLeft) {
  TerminationRounds rounds(1);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(rounds.take(rounds.begin(), {.sent = 5, .taken = 4, .waiting = 1}), Outcome::moved);
}

TEST(QuietRoundsTest, WhatHappensBetweenTwoRoundsTakesAnother) {
  TerminationRounds rounds(1);
  EXPECT_EQ(rounds.take(rounds.begin(), {.sent = 4, .taken = 4, .waiting = 1}), Outcome::still);
  EXPECT_EQ(rounds.take(rounds.begin(), {.sent = 5, .taken = 5, .waiting = 1}), Outcome::still);
  EXPECT_EQ(rounds.take(rounds.begin(), {.sent = 5, .taken = 5, .waiting = 1}), Outcome::over);
}

TEST(QuietRoundsTest, AJobAtItsEndIsNoneInWhichNobodyIsLeft) {
  TerminationRounds rounds(2);
  for (int i = 0; i < 3; ++i) {
    const std::uint32_t round = rounds.begin();
    EXPECT_EQ(rounds.take(round, {}), Outcome::open);
    EXPECT_EQ(rounds.take(round, {}), Outcome::moved);
  }
}

TEST(QuietRoundsTest, AnAnswerToAnEarlierQuestionIsNone) {
  TerminationRounds rounds(1);
  const std::uint32_t first = rounds.begin();
  EXPECT_EQ(rounds.take(first, {.waiting = 1}), Outcome::still);
  EXPECT_EQ(rounds.take(first, {.waiting = 1}), Outcome::open);
}

/// One process of a test: a fiber on its first worker, which waits for packets.
struct Member : QuietWatcher {
  Member(FakeHosts& hosts, std::uint32_t number, std::uint32_t worker_count)
      : process(number),
        run(hosts.options(number, worker_count)),
        job(hosts.job(number)),
        transport(run.scheduler(), job) {
    transport.set_handler(
        0,
        [](void* owner, Worker& receiver, Endpoint, const Packet&, const std::byte*) {
          static_cast<Member*>(owner)->came.complete(receiver);
        },
        this);
    transport.quiet().set_watcher(this);
    transport.quiet().set_pause(0);
    run.all_asleep = [this](Worker&) { transport.quiet().note_all_asleep(); };
    run.worker_start = [this](Worker& worker) { transport.start(worker); };
  }

  void send(Worker& from, std::uint32_t to) {
    EXPECT_TRUE(transport.try_send(from, {.process = to, .worker = 0}, {}, nullptr));
  }

  void wait(Worker& worker) {
    came.wait(worker);
    came.reset();
  }

  std::string text_of_waits(std::size_t /*bytes_max*/) override {
    return std::string(report_bytes, static_cast<char>('a' + process));
  }

  void on_deadlock() override {
    ++alarm_count;
    if (react) react();
  }

  void on_end(int status) override {
    end_status = status;
    came.complete(*Worker::current());
  }

  const std::uint32_t process;
  core::FiberRun run;
  HostJob job;
  HostTransport transport;
  core::Completion came;
  std::size_t report_bytes = 5;
  std::function<void()> react;
  int alarm_count = 0;
  int end_status = 0;
};

/// Runs `body` in as many processes; returns how often process 0 got the result that all are idle.
int alarms_of(FakeHosts& hosts,
              std::uint32_t process_count,
              std::uint32_t worker_count,
              const std::function<void(Member&, Worker&)>& body,
              const std::function<void(Member&)>& prepare = {}) {
  std::atomic<int> alarm_count{0};
  std::latch all_built(process_count);
  std::vector<std::jthread> processes;
  for (std::uint32_t process = 0; process < process_count; ++process) {
    processes.emplace_back([&, process] {
      // The worker that gets the result can wake the fiber.
      Member member(hosts, process, process == 0 ? 1 : worker_count);
      if (prepare) prepare(member);
      member.run.add(0, [&](Worker& worker) { body(member, worker); });
      all_built.arrive_and_wait();
      member.run.run();
      member.transport.finish();
      alarm_count += member.alarm_count;
    });
  }
  processes.clear();
  return alarm_count.load();
}

TEST(TerminationDetectorTest, ProcessesThatAllWaitAreFoundAndTellWhatFor) {
  constexpr std::uint32_t process_count = 3;
  // More than one packet holds.
  constexpr std::size_t report_bytes = 40'000;
  for (const std::uint32_t worker_count : {1U, 2U}) {
    FakeHosts hosts(process_count);
    std::vector<TerminationDetector::Report> reports;
    const int count = alarms_of(
        hosts, process_count, worker_count,
        [&](Member& self, Worker& worker) {
          // Something has been sent before.
          if (self.process == 1) self.send(worker, 2);
          if (self.process == 2) self.wait(worker);
          self.wait(worker);
          if (self.process != 0) return;
          self.send(worker, 1);
          self.send(worker, 2);
        },
        [&](Member& self) {
          self.report_bytes = report_bytes;
          self.react = [&] {
            if (!reports.empty()) return;
            reports = self.transport.quiet().gather_reports();
            self.came.complete(*Worker::current());
          };
        });
    EXPECT_GE(count, 1);
    ASSERT_EQ(reports.size(), process_count);
    EXPECT_TRUE(reports[0].text.empty()) << "its own it knows";
    for (std::uint32_t process = 1; process < process_count; ++process) {
      EXPECT_TRUE(reports[process].has_come);
      EXPECT_EQ(reports[process].text, std::string(report_bytes, static_cast<char>('a' + process)));
    }
  }
}

TEST(TerminationDetectorTest, AllProcessesEndWithTheStatusOfTheFirst) {
  constexpr std::uint32_t process_count = 3;
  constexpr int status = 3;
  FakeHosts hosts(process_count);
  std::atomic<int> ended_count{0};
  bool have_confirmed = false;
  const int count = alarms_of(
      hosts, process_count, 1,
      [&](Member& self, Worker& worker) {
        self.wait(worker);
        if (self.end_status == status) ++ended_count;
      },
      [&](Member& self) {
        self.react = [&] {
          if (have_confirmed) return;
          have_confirmed = self.transport.quiet().end_others(status);
          self.came.complete(*Worker::current());
        };
      });
  EXPECT_GE(count, 1);
  EXPECT_TRUE(have_confirmed);
  EXPECT_EQ(ended_count.load(), process_count - 1);
}

// A rank aborts: in any process, while the other ones wait.
TEST(TerminationDetectorTest, AnyProcessEndsTheOthersWithItsStatus) {
  constexpr std::uint32_t process_count = 3;
  constexpr int status = 7;
  for (std::uint32_t ender = 0; ender < process_count; ++ender) {
    FakeHosts hosts(process_count);
    std::atomic<int> ended_count{0};
    bool have_confirmed = false;
    alarms_of(hosts, process_count, 1, [&](Member& self, Worker& worker) {
      if (self.process == ender) {
        have_confirmed = self.transport.end_others(status);
        return;
      }
      self.wait(worker);
      if (self.end_status == status) ++ended_count;
    });
    EXPECT_TRUE(have_confirmed) << ender;
    EXPECT_EQ(ended_count.load(), process_count - 1) << ender;
  }
}

TEST(TerminationDetectorTest, WhoSleepsForATimeIsNotWaitedForInVain) {
  FakeHosts hosts(2);
  EXPECT_EQ(alarms_of(hosts, 2, 2,
                      [](Member& self, Worker& worker) {
                        if (self.process == 0) {
                          self.wait(worker);
                        } else {
                          worker.sleep(30'000'000);
                          self.send(worker, 0);
                        }
                      }),
            0);
}

TEST(TerminationDetectorTest, WhoComputesIsNotWaitedForInVain) {
  FakeHosts hosts(2);
  EXPECT_EQ(alarms_of(hosts, 2, 2,
                      [](Member& self, Worker& worker) {
                        if (self.process == 0) {
                          self.wait(worker);
                        } else {
                          const std::int64_t until_ns = os::monotonic_ns() + 30'000'000;
                          while (os::monotonic_ns() < until_ns) {
                          }
                          self.send(worker, 0);
                        }
                      }),
            0);
}

TEST(TerminationDetectorTest, APacketInTheHandsOfTheHostIsOnItsWay) {
  FakeHosts hosts(3);
  hosts.hold_kinds_below(packet_kind_count_max);
  std::jthread nature([&] {
    // Several rounds of questions and answers later.
    while (hosts.count_of_kinds_from(packet_kind_count_max) < 40)
      os::sleep_ns(100'000);
    hosts.hold_kinds_below(0);
  });
  EXPECT_EQ(alarms_of(hosts, 3, 1,
                      [](Member& self, Worker& worker) {
                        if (self.process == 1) self.send(worker, 0);
                        self.wait(worker);
                        if (self.process == 0) self.send(worker, 2);
                        if (self.process == 2) self.send(worker, 1);
                      }),
            0);
}

// Two nodes of two processes: 1 has heard from its neighbour and 2 from afar, and all wait.
TEST(TerminationDetectorTest, NeighboursThatAllWaitAreFound) {
  FakeHosts hosts(4, 2);
  const int count = alarms_of(
      hosts, 4, 1,
      [](Member& self, Worker& worker) {
        if (self.process == 0) self.send(worker, 1);
        if (self.process == 1) self.wait(worker);
        if (self.process == 1) self.send(worker, 2);
        if (self.process == 2) self.wait(worker);
        self.wait(worker);
        for (std::uint32_t to = 1; self.process == 0 && to < 4; ++to)
          self.send(worker, to);
      },
      [](Member& self) {
        self.react = [&self] {
          if (self.alarm_count == 1) self.came.complete(*Worker::current());
        };
      });
  EXPECT_GE(count, 1);
}

// 1 sleeps while its neighbour's packet is the only thing that will ever happen to it.
TEST(TerminationDetectorTest, WhoWaitsForANeighbourThatSleepsIsNotAlone) {
  FakeHosts hosts(3, 2);
  EXPECT_EQ(alarms_of(hosts, 3, 1,
                      [](Member& self, Worker& worker) {
                        for (int round = 0; round < 10; ++round) {
                          if (self.process == 1) worker.sleep(3'000'000);
                          if (self.process == 1) self.send(worker, 0);
                          if (self.process == 0) self.wait(worker);
                          if (self.process == 0) self.send(worker, 2);
                          if (self.process == 2) self.wait(worker);
                          if (self.process == 2) self.send(worker, 1);
                          if (self.process == 1) self.wait(worker);
                        }
                      }),
            0);
}

// What 0 sends to 1, which has ended, is received by no process but counted.
TEST(TerminationDetectorTest, WhoWaitsForANeighbourThatHasEndedIsFound) {
  FakeHosts hosts(3, 2);
  const int count = alarms_of(
      hosts, 3, 1,
      [](Member& self, Worker& worker) {
        if (self.process != 0) return;
        worker.sleep(5'000'000);
        // More than a mailbox holds: some when it has ended for certain.
        for (int i = 0; i < 300; ++i) {
          while (!self.transport.try_send(worker, {.process = 1, .worker = 0}, {}, nullptr))
            worker.sleep(20'000);
        }
        self.wait(worker);
      },
      [](Member& self) { self.react = [&self] { self.came.complete(*Worker::current()); }; });
  EXPECT_GE(count, 1);
}

TEST(TerminationDetectorTest, WhoWaitsForAProcessThatHasEndedIsFound) {
  FakeHosts hosts(2);
  const int count = alarms_of(
      hosts, 2, 1,
      [](Member& self, Worker& worker) {
        if (self.process == 0) self.wait(worker);
      },
      [](Member& self) { self.react = [&self] { self.came.complete(*Worker::current()); }; });
  EXPECT_GE(count, 1);
}

}  // namespace
}  // namespace sorrel::transport
