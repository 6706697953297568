#include "core/scheduler.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <vector>

#include "core/completion.hpp"
#include "os/clock.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

constexpr WorkerLimits no_spinning{.spin_ns_max = 0};

/// News for one fiber of another worker. May come before it is waited for.
struct Signal : RemoteCall {
  Completion arrived;

  Signal() {
    run = [](Worker& worker, RemoteCall& call) {
      static_cast<Signal&>(call).arrived.complete(worker);
    };
  }

  /// May suspend.
  void wait(Worker& worker) {
    arrived.wait(worker);
    arrived.reset();
  }
};

TEST(SchedulerTest, ReturnsWhenEveryFiberHasEnded) {
  FiberRun run(3);
  std::atomic<int> end_count{0};
  for (std::uint32_t i = 0; i < 30; ++i) {
    run.add(i % 3, [&](Worker& worker) {
      worker.yield();
      end_count.fetch_add(1, std::memory_order_relaxed);
    });
  }
  run.run();
  EXPECT_EQ(end_count.load(std::memory_order_relaxed), 30);
}

TEST(SchedulerTest, NoFibersIsDoneAtOnce) {
  FiberRun run(2);
  run.run();
}

TEST(SchedulerTest, AWorkerWithoutFibersDoesNotDisturb) {
  FiberRun run(4, no_spinning);
  run.add(2, [](Worker& worker) { worker.sleep(1'000'000); });
  run.run();
}

TEST(SchedulerTest, WorkersThatWaitForALongTimeSleep) {
  constexpr std::int64_t wait_ns = 300'000'000;
  FiberRun run(4);
  std::vector<Signal> signals(4);
  std::int64_t cpu_ns = 0;
  run.add(0, [&](Worker& worker) {
    const std::int64_t before_ns = os::process_cpu_ns();
    worker.sleep(wait_ns);
    cpu_ns = os::process_cpu_ns() - before_ns;
    for (std::uint32_t i = 1; i < 4; ++i)
      worker.post(run.worker(i), signals[i]);
  });
  for (std::uint32_t i = 1; i < 4; ++i)
    run.add(i, [&, i](Worker& worker) { signals[i].wait(worker); });
  run.run();
  // Workers that poll all the time use more than twice as much, also on a busy machine.
  EXPECT_LT(cpu_ns, wait_ns / 4);
}

/// How often threads of this process have left their cores to wait.
long wait_count() {
  struct rusage usage{};
  EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
  return usage.ru_nvcsw;
}

TEST(SchedulerTest, AFiberThatSleepsAgainAndAgainLeavesItsCore) {
  constexpr int sleep_count = 20;
  // One that a poll could wait for, and one that is longer.
  for (const std::int64_t sleep_ns : {poll_ns_max / 2, 2 * poll_ns_max}) {
    FiberRun run;
    run.add(0, [&](Worker& worker) {
      const long waits_before = wait_count();
      // The machine's host may take a core away, which looks like processor time: now and then.
      std::array<double, 5> busy_parts{};
      for (double& part : busy_parts) {
        const std::int64_t before_ns = os::process_cpu_ns();
        const std::int64_t began_ns = os::monotonic_ns();
        for (int i = 0; i < sleep_count; ++i)
          worker.sleep(sleep_ns);
        const auto elapsed_ns = static_cast<double>(os::monotonic_ns() - began_ns);
        part = static_cast<double>(os::process_cpu_ns() - before_ns) / elapsed_ns;
      }
      std::ranges::sort(busy_parts);
      EXPECT_LT(busy_parts[2], 1.0 / 3) << sleep_ns;
      // A sleep that is over before its worker can wait needs no wait.
      EXPECT_GT(wait_count() - waits_before, 5 * sleep_count / 2) << sleep_ns;
    });
    run.run();
  }
}

TEST(SchedulerTest, NoFiberRunsBeforeEveryWorkersStart) {
  FiberRun run(4);
  std::atomic<int> start_count{0};
  std::atomic<int> all_started_count{0};
  run.worker_start = [&](Worker&) { start_count.fetch_add(1, std::memory_order_relaxed); };
  run.all_started = [&] {
    EXPECT_EQ(start_count.load(std::memory_order_relaxed), 4);
    all_started_count.fetch_add(1, std::memory_order_relaxed);
  };
  for (std::uint32_t i = 0; i < 4; ++i) {
    run.add(i, [&](Worker&) {
      EXPECT_EQ(start_count.load(std::memory_order_relaxed), 4);
      EXPECT_EQ(all_started_count.load(std::memory_order_relaxed), 1);
    });
  }
  run.run();
  EXPECT_EQ(all_started_count.load(std::memory_order_relaxed), 1);
}

/// Counts its arrivals, in order, at a worker that knows how many must come.
struct Counter {
  std::uint32_t expected_count = 0;
  std::uint32_t arrived_count = 0;
  Completion all_arrived;
};

struct NumberedCall : RemoteCall {
  std::uint32_t number = 0;
  Counter* counter = nullptr;

  void prepare(std::uint32_t its_number, Counter& its_counter) {
    number = its_number;
    counter = &its_counter;
    run = [](Worker& worker, RemoteCall& call) {
      auto& self = static_cast<NumberedCall&>(call);
      EXPECT_EQ(self.number, self.counter->arrived_count);
      if (++self.counter->arrived_count == self.counter->expected_count)
        self.counter->all_arrived.complete(worker);
    };
  }
};

TEST(SchedulerTest, NoticesInBothDirectionsKeepTheirOrderThoughMailboxesAreFull) {
  // Far more than a mailbox holds: most of them must wait in the sender's deferred list.
  constexpr std::uint32_t notice_count = 5000;
  for (const WorkerLimits& limits : {WorkerLimits{}, no_spinning}) {
    FiberRun run(2, limits);
    std::vector<NumberedCall> notices[2];
    Counter counters[2];
    for (std::uint32_t from = 0; from < 2; ++from) {
      const std::uint32_t to = 1 - from;
      counters[to].expected_count = notice_count;
      notices[from].resize(notice_count);
      run.add(from, [&, from, to](Worker& worker) {
        for (std::uint32_t i = 0; i < notice_count; ++i) {
          notices[from][i].prepare(i, counters[to]);
          worker.post(run.worker(to), notices[from][i]);
        }
        counters[from].all_arrived.wait(worker);
      });
    }
    run.run();
    EXPECT_EQ(counters[0].arrived_count, notice_count);
    EXPECT_EQ(counters[1].arrived_count, notice_count);
  }
}

TEST(SchedulerTest, ARecordDoesNotOvertakeDeferredNotices) {
  constexpr std::uint32_t notice_count = 2000;
  static std::uint32_t arrived_before_record;
  static Completion record_arrived;
  arrived_before_record = 0;
  record_arrived.reset();
  FiberRun run(2);
  Counter counter{.expected_count = 0, .arrived_count = 0, .all_arrived = {}};
  std::vector<NumberedCall> notices(notice_count);
  static Counter* counter_of_record;
  counter_of_record = &counter;
  run.scheduler().set_runner(1, [](Worker& receiver, const Record&, const std::byte*) {
    arrived_before_record = counter_of_record->arrived_count;
    record_arrived.complete(receiver);
  });
  run.add(0, [&](Worker& worker) {
    for (std::uint32_t i = 0; i < notice_count; ++i) {
      notices[i].prepare(i, counter);
      worker.post(run.worker(1), notices[i]);
    }
    while (!worker.try_post(run.worker(1), {.kind = 1}, nullptr))
      worker.yield();
  });
  run.add(1, [&](Worker& worker) { record_arrived.wait(worker); });
  run.run();
  EXPECT_EQ(arrived_before_record, notice_count);
}

TEST(SchedulerTest, ANoticeMayBePostedBackFromItsOwnRun) {
  struct Ball : RemoteCall {
    std::uint32_t hop_count = 0;
    Completion landed;
  } ball;

  constexpr std::uint32_t hop_count_max = 3000;
  ball.run = [](Worker& worker, RemoteCall& call) {
    auto& self = static_cast<Ball&>(call);
    if (++self.hop_count == hop_count_max) {
      self.landed.complete(worker);
    } else {
      worker.post(worker.scheduler().worker(1 - worker.index()), self);
    }
  };
  for (const WorkerLimits& limits : {WorkerLimits{}, no_spinning}) {
    ball.hop_count = 0;
    ball.landed.reset();
    FiberRun run(2, limits);
    run.add(0, [&](Worker& worker) {
      worker.post(run.worker(1), ball);
      ball.landed.wait(worker);
    });
    run.run();
    EXPECT_EQ(ball.hop_count, hop_count_max);
  }
}

TEST(SchedulerTest, SixtyFourWorkersPassAMessageRound) {
  constexpr std::uint32_t worker_count = 64;
  constexpr int round_count = 5;
  FiberRun run(worker_count, no_spinning);
  std::vector<Signal> signals(worker_count);
  for (std::uint32_t i = 0; i < worker_count; ++i) {
    const std::uint32_t next = (i + 1) % worker_count;
    run.add(i, [&, i, next](Worker& worker) {
      for (int round = 0; round < round_count; ++round) {
        if (i != 0) signals[i].wait(worker);
        worker.post(run.worker(next), signals[next]);
        if (i == 0) signals[i].wait(worker);
      }
    });
  }
  run.run();
}

TEST(SchedulerTest, TheLastWorkerToFallAsleepIsToldOnce) {
  for (const std::uint32_t worker_count : {1U, 2U, 5U}) {
    FiberRun run(worker_count, no_spinning);
    std::atomic<int> hook_count{0};
    std::vector<Fiber*> fibers;
    std::vector<Signal> signals(worker_count);
    for (std::uint32_t i = 0; i < worker_count; ++i)
      fibers.push_back(&run.add(i, [&, i](Worker& worker) { signals[i].wait(worker); }));
    run.all_asleep = [&](Worker& worker) {
      hook_count.fetch_add(1, std::memory_order_relaxed);
      for (const Fiber* fiber : fibers)
        EXPECT_EQ(fiber->state, FiberState::waiting);
      worker.wake();
      signals[worker.index()].arrived.complete(worker);
      for (std::uint32_t i = 0; i < worker_count; ++i) {
        if (i != worker.index()) worker.post(run.worker(i), signals[i]);
      }
    };
    run.run();
    EXPECT_EQ(hook_count.load(std::memory_order_relaxed), 1);
  }
}

TEST(SchedulerTest, TheHookIsCalledAgainOnlyWhenSomebodyWasAwakeMeanwhile) {
  FiberRun run(2, no_spinning);
  std::atomic<int> hook_count{0};
  Fiber& fiber = run.add(0, [](Worker& worker) { worker.suspend(); });
  run.add(1, [](Worker&) {});
  run.all_asleep = [&](Worker& worker) {
    if (hook_count.fetch_add(1, std::memory_order_acq_rel) == 0) return;
    // Woken by the outsider, worker 0 has found nothing to do: all are asleep anew.
    ASSERT_EQ(worker.index(), 0U);
    worker.wake();
    worker.make_ready(fiber);
  };
  // A thread that is no worker, like a debugger's.
  std::thread outsider([&] {
    while (hook_count.load(std::memory_order_acquire) == 0)
      std::this_thread::yield();
    run.worker(0).wake();
  });
  run.run();
  outsider.join();
  EXPECT_EQ(hook_count.load(std::memory_order_relaxed), 2);
}

TEST(SchedulerTest, NobodyIsAllAsleepWhileATimerIsSet) {
  FiberRun run(3, no_spinning);
  int hook_count = 0;
  bool has_slept = false;
  Signal for_waiting;
  Signal for_sleeper;
  run.add(0, [&](Worker& worker) { for_waiting.wait(worker); });
  run.add(1, [&](Worker& worker) {
    for (int i = 0; i < 20; ++i)
      worker.sleep(200'000);
    has_slept = true;
    for_sleeper.wait(worker);
    worker.post(run.worker(0), for_waiting);
  });
  run.all_asleep = [&](Worker& worker) {
    EXPECT_TRUE(has_slept);
    ++hook_count;
    worker.wake();
    if (worker.index() != 1) {
      worker.post(run.worker(1), for_sleeper);
    } else {
      for_sleeper.arrived.complete(worker);
    }
  };
  run.run();
  EXPECT_EQ(hook_count, 1);
}

/// Two workers that do nothing but wake each other and sleep as soon as they can.
void play_ping_pong(int round_count, std::int64_t pause_ns_max) {
  FiberRun run(2, no_spinning);
  Signal signals[2];
  for (std::uint32_t i = 0; i < 2; ++i) {
    run.add(i, [&, i](Worker& worker) {
      for (int round = 0; round < round_count; ++round) {
        if (i == 1) signals[i].wait(worker);
        if (pause_ns_max != 0) worker.sleep(round * 1000 % pause_ns_max);
        worker.post(run.worker(1 - i), signals[1 - i]);
        if (i == 0) signals[i].wait(worker);
      }
    });
  }
  run.run();
}

TEST(SchedulerTest, MessagesUnderWayAreNotMistakenForSleep) {
  play_ping_pong(4000, 0);
}

TEST(SchedulerTest, TimersAndMessagesUnderWayAreNotMistakenForSleep) {
  play_ping_pong(1000, 7000);
}

}  // namespace
}  // namespace sorrel::core
