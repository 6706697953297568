#include "core/worker.hpp"

#include <array>
#include <cerrno>
#include <cfenv>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "core/completion.hpp"
#include "os/clock.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

using Order = std::vector<std::string>;

TEST(WorkerTest, FibersFirstRunInTheOrderOfStarting) {
  FiberRun run;
  Order order;
  for (const char* name : {"a", "b", "c"})
    run.add(0, [&order, name](Worker&) { order.emplace_back(name); });
  run.run();
  EXPECT_EQ(order, (Order{"a", "b", "c"}));
}

TEST(WorkerTest, YieldLetsEveryReadyFiberRunOnce) {
  FiberRun run;
  Order order;
  for (const std::string name : {"a", "b", "c"}) {
    run.add(0, [&order, name](Worker& worker) {
      for (int i = 0; i < 3; ++i) {
        order.push_back(name + std::to_string(i));
        worker.yield();
      }
    });
  }
  run.run();
  EXPECT_EQ(order, (Order{"a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"}));
}

TEST(WorkerTest, YieldOfTheOnlyReadyFiberReturns) {
  FiberRun run;
  int count = 0;
  run.add(0, [&count](Worker& worker) {
    for (; count < 100; ++count)
      worker.yield();
  });
  run.run();
  EXPECT_EQ(count, 100);
}

TEST(WorkerTest, ASuspendedFiberWaitsUntilItIsMadeReady) {
  FiberRun run;
  Order order;
  Fiber& waiting = run.add(0, [&order](Worker& worker) {
    order.emplace_back("suspends");
    worker.suspend();
    order.emplace_back("goes on");
  });
  run.add(0, [&](Worker& worker) {
    worker.yield();
    order.emplace_back("makes ready");
    worker.make_ready(waiting);
    order.emplace_back("still runs");
  });
  run.run();
  EXPECT_EQ(order, (Order{"suspends", "makes ready", "still runs", "goes on"}));
}

TEST(WorkerTest, FibersThatWaitedTogetherBecomeReadyInTheirOrder) {
  FiberRun run;
  FiberQueue together;
  Order order;
  for (const char* name : {"a", "b", "c"}) {
    run.add(0, [&, name](Worker& worker) {
      together.push(worker.running());
      worker.suspend();
      order.emplace_back(name);
    });
  }
  run.add(0, [&](Worker& worker) { worker.make_all_ready(together); });
  run.run();
  EXPECT_EQ(order, (Order{"a", "b", "c"}));
  EXPECT_TRUE(together.empty());
}

TEST(WorkerTest, TellsWhoRuns) {
  FiberRun run;
  bool hook_was_in_fiber = true;
  run.worker_start = [&](Worker& worker) { hook_was_in_fiber = worker.in_fiber(); };
  Fiber* seen = nullptr;
  Fiber& fiber = run.add(0, [&](Worker& worker) {
    seen = &worker.running();
    EXPECT_TRUE(worker.in_fiber());
    EXPECT_EQ(Worker::current(), &worker);
    EXPECT_EQ(seen->state, FiberState::running);
  });
  run.run();
  EXPECT_EQ(seen, &fiber);
  EXPECT_FALSE(hook_was_in_fiber);
  EXPECT_EQ(Worker::current(), nullptr);
}

TEST(WorkerTest, SleepLastsAtLeastAsLongAsAsked) {
  FiberRun run;
  std::int64_t slept_ns = 0;
  run.add(0, [&](Worker& worker) {
    const std::int64_t began_ns = os::monotonic_ns();
    worker.sleep(3'000'000);
    slept_ns = os::monotonic_ns() - began_ns;
  });
  run.run();
  EXPECT_GE(slept_ns, 3'000'000);
}

TEST(WorkerTest, SleepersWakeInTheOrderOfTheirTimes) {
  FiberRun run;
  Order order;
  const auto sleeper = [&order](const char* name, std::int64_t duration_ns) {
    return [&order, name, duration_ns](Worker& worker) {
      worker.sleep(duration_ns);
      order.emplace_back(name);
    };
  };
  // So far apart that the order does not depend on when each of them begins.
  run.add(0, sleeper("late", 600'000'000));
  run.add(0, sleeper("early", 200'000'000));
  run.add(0, sleeper("middle", 400'000'000));
  run.add(0, sleeper("not at all", 0));
  run.run();
  EXPECT_EQ(order, (Order{"not at all", "early", "middle", "late"}));
}

TEST(WorkerTest, ASleepMayBeEndedEarly) {
  FiberRun run;
  Sleep sleep;
  std::int64_t slept_ns = 0;
  run.add(0, [&](Worker& worker) {
    const std::int64_t began_ns = os::monotonic_ns();
    worker.sleep(sleep, 3'600'000'000'000);
    slept_ns = os::monotonic_ns() - began_ns;
  });
  run.add(0, [&](Worker& worker) { worker.end_sleep(sleep); });
  run.run();
  EXPECT_LT(slept_ns, 1'000'000'000'000);
}

/// What a visit has seen.
struct Visited {
  Worker* worker = nullptr;
  const void* user = nullptr;
  const void* stack = nullptr;
  int error = 0;
  int count = 0;

  static void visit(void* argument) {
    auto& self = *static_cast<Visited*>(argument);
    const int local = 0;
    self.stack = &local;
    self.worker = Worker::current();
    self.user = Worker::current_user();
    self.error = errno;
    errno = -1;
    ++self.count;
  }
};

TEST(WorkerTest, AVisitRunsOnTheStackAndAsTheFiberThatWaits) {
  FiberRun run;
  Visited visited;
  const void* stack = nullptr;
  Fiber* waiting = nullptr;
  waiting = &run.add(0, [&](Worker& worker) {
    const int local = 0;
    stack = &local;
    worker.running().user = waiting;
    errno = 17;
    worker.suspend();
    EXPECT_EQ(errno, 17);
    EXPECT_EQ(visited.count, 2);
  });
  run.add(0, [&](Worker& worker) {
    errno = 18;
    worker.visit(*waiting, Visited::visit, &visited);
    EXPECT_EQ(errno, 18);
    EXPECT_EQ(visited.error, 17);
    EXPECT_EQ(worker.running().state, FiberState::running);
    EXPECT_EQ(waiting->state, FiberState::waiting);
    worker.visit(*waiting, Visited::visit, &visited);
    worker.make_ready(*waiting);
  });
  run.run();
  EXPECT_EQ(visited.user, waiting);
  EXPECT_EQ(visited.worker, &run.worker(0));
  EXPECT_LT(visited.stack, stack);
  EXPECT_LT(static_cast<const char*>(stack) - static_cast<const char*>(visited.stack), 8192);
}

TEST(WorkerTest, AWorkerThatIsCalledAwayTellsTheHooksOnWhateverStackItIdles) {
  FiberRun run;
  Visited visited;
  Fiber* waiting = nullptr;
  run.called = [&](Worker& worker) {
    worker.visit(*waiting, Visited::visit, &visited);
    worker.make_ready(*waiting);
  };
  waiting = &run.add(0, [&](Worker& worker) {
    worker.running().user = waiting;
    worker.request_attention();
    // The idle loop is on this very stack.
    worker.suspend();
  });
  run.run();
  EXPECT_EQ(visited.user, waiting);
  EXPECT_EQ(visited.count, 1);
}

TEST(WorkerTest, WaitsEndsAndIdleTimeAreEvents) {
  FiberRun run;
  Fiber* first = nullptr;
  first = &run.add(0, [&](Worker& worker) {
    worker.running().user = first;
    worker.running().call = "first";
    worker.suspend();
  });
  run.add(0, [&](Worker& worker) {
    worker.running().user = &run;
    worker.running().call = "second";
    // Long enough for the worker to be idle, even if the system takes its core away for a while.
    worker.sleep(200'000'000);
    worker.make_ready(*first);
  });
  run.run();
  std::array<trace::Record, 16> memory;
  std::vector<std::pair<const void*, trace::Kind>> events;
  for (const trace::Record& record : run.worker(0).events().copy_latest(memory)) {
    const void* subject = reinterpret_cast<const void*>(record.subject);
    if (subject == nullptr) continue;
    events.emplace_back(subject, record.kind());
    EXPECT_STREQ(reinterpret_cast<const char*>(record.first),
                 subject == first ? "first" : "second");
  }
  using trace::Kind;
  EXPECT_EQ(events, (std::vector<std::pair<const void*, Kind>>{{first, Kind::wait},
                                                               {&run, Kind::wait_then_idle},
                                                               {&run, Kind::wake},
                                                               {&run, Kind::end},
                                                               {first, Kind::end_then_idle}}));
}

TEST(WorkerTest, AFiberThatYieldsDoesNotHoldUpTimers) {
  FiberRun run;
  bool woke = false;
  run.add(0, [&](Worker& worker) {
    worker.sleep(1'000'000);
    woke = true;
  });
  run.add(0, [&](Worker& worker) {
    while (!woke)
      worker.yield();
  });
  run.run();
  EXPECT_TRUE(woke);
}

TEST(WorkerTest, EachFiberHasItsErrno) {
  FiberRun run;
  for (int value = 1; value <= 4; ++value) {
    run.add(0, [value](Worker& worker) {
      EXPECT_EQ(errno, 0);
      errno = value;
      for (int i = 0; i < 10; ++i) {
        worker.yield();
        EXPECT_EQ(errno, value);
      }
    });
  }
  run.run();
}

TEST(WorkerTest, EachFiberHasItsRoundingMode) {
  FiberRun run;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
    run.add(0, [mode](Worker& worker) {
      EXPECT_EQ(std::fegetround(), FE_TONEAREST);
      std::fesetround(mode);
      for (int i = 0; i < 3; ++i) {
        worker.yield();
        EXPECT_EQ(std::fegetround(), mode);
      }
    });
  }
  run.run();
  EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

TEST(WorkerTest, AFiberRunsOnItsOwnStack) {
  FiberRun run;
  std::vector<const void*> frames;
  for (int i = 0; i < 2; ++i) {
    run.add(0, [&frames, i](Worker& worker) {
      alignas(64) volatile int local = i;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&local) % 64, 0U);
      frames.push_back(const_cast<const int*>(&local));
      worker.yield();
      EXPECT_EQ(local, i);
    });
  }
  run.run();
  EXPECT_NE(frames.at(0), frames.at(1));
}

class CompletionTest : public testing::Test {
 protected:
  FiberRun run_;
  std::vector<Completion> completions_ = std::vector<Completion>(3);
};

TEST_F(CompletionTest, WaitingForOneEndsWhenItIsDone) {
  Order order;
  run_.add(0, [&](Worker& worker) {
    completions_[0].wait(worker);
    order.emplace_back("waited");
  });
  run_.add(0, [&](Worker& worker) {
    order.emplace_back("completes");
    completions_[0].complete(worker);
  });
  run_.run();
  EXPECT_EQ(order, (Order{"completes", "waited"}));
}

TEST_F(CompletionTest, WhatIsDoneIsNotWaitedFor) {
  run_.add(0, [&](Worker& worker) {
    completions_[0].complete(worker);
    completions_[0].wait(worker);
    EXPECT_TRUE(completions_[0].is_done());
    completions_[0].reset();
    EXPECT_FALSE(completions_[0].is_done());
  });
  run_.run();
}

TEST_F(CompletionTest, WaitingForAllEndsWithTheLast) {
  std::size_t done_count = 0;
  run_.add(0, [&](Worker& worker) {
    Waiter waiter{.fiber = &worker.running(), .missing_count = 3};
    for (Completion& completion : completions_)
      completion.attach(waiter);
    worker.suspend();
    EXPECT_EQ(done_count, 3U);
  });
  run_.add(0, [&](Worker& worker) {
    for (const std::size_t i : {1U, 2U, 0U}) {
      ++done_count;
      completions_[i].complete(worker);
      worker.yield();
    }
  });
  run_.run();
}

TEST_F(CompletionTest, WaitingForAnyEndsWithTheFirst) {
  std::size_t done_count = 0;
  run_.add(0, [&](Worker& worker) {
    Waiter waiter{.fiber = &worker.running(), .missing_count = 1};
    for (Completion& completion : completions_)
      completion.attach(waiter);
    worker.suspend();
    EXPECT_EQ(done_count, 1U);
    EXPECT_TRUE(completions_[1].is_done());
    for (Completion& completion : completions_)
      completion.detach();
  });
  run_.add(0, [&](Worker& worker) {
    for (const std::size_t i : {1U, 2U, 0U}) {
      ++done_count;
      completions_[i].complete(worker);
      worker.yield();
    }
  });
  run_.run();
}

TEST_F(CompletionTest, TwoAtOnceMakeAFiberThatWaitsForAnyReadyOnlyOnce) {
  run_.add(0, [&](Worker& worker) {
    Waiter waiter{.fiber = &worker.running(), .missing_count = 1};
    for (Completion& completion : completions_)
      completion.attach(waiter);
    worker.suspend();
    EXPECT_TRUE(completions_[0].is_done() && completions_[1].is_done());
    completions_[2].detach();
  });
  run_.add(0, [&](Worker& worker) {
    completions_[0].complete(worker);
    completions_[1].complete(worker);
  });
  run_.run();
}

TEST_F(CompletionTest, ATimerCanCompleteIt) {
  struct Alarm : Timer {
    Completion completion;
  } alarm;

  alarm.due_ns = os::monotonic_ns() + 1'000'000;
  alarm.run = [](Worker& worker, Timer& timer) {
    static_cast<Alarm&>(timer).completion.complete(worker);
  };
  run_.add(0, [&](Worker& worker) {
    worker.add_timer(alarm);
    alarm.completion.wait(worker);
    EXPECT_GE(os::monotonic_ns(), alarm.due_ns);
  });
  run_.run();
}

}  // namespace
}  // namespace sorrel::core
