#include "core/timer.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <vector>

#include "base/prng.hpp"
#include "unit/core/fiber_run.hpp"

namespace sorrel::core {
namespace {

class TimerTest : public testing::Test {
 protected:
  struct Noted : Timer {
    std::vector<std::int64_t>* ran = nullptr;
  };

  TimerTest() { ran_due_ns_.reserve(100); }

  Noted timer_due(std::int64_t due_ns) {
    Noted timer;
    timer.due_ns = due_ns;
    timer.ran = &ran_due_ns_;
    timer.run = [](Worker&, Timer& self) { static_cast<Noted&>(self).ran->push_back(self.due_ns); };
    return timer;
  }

  FiberRun run_;
  Worker& worker_ = run_.worker(0);
  std::vector<std::int64_t> ran_due_ns_;
  TimerQueue queue_;
};

TEST_F(TimerTest, RunsWhatIsDueInTheOrderOfTime) {
  Noted late = timer_due(30);
  Noted early = timer_due(10);
  Noted middle = timer_due(20);
  for (Noted* timer : {&late, &early, &middle})
    queue_.add(*timer);
  EXPECT_EQ(queue_.next_due_ns(), 10);
  EXPECT_EQ(queue_.run_due(worker_, 20), 2);
  EXPECT_EQ(ran_due_ns_, (std::vector<std::int64_t>{10, 20}));
  EXPECT_EQ(queue_.next_due_ns(), 30);
}

TEST_F(TimerTest, RunsNothingBeforeItsTime) {
  Noted timer = timer_due(100);
  queue_.add(timer);
  EXPECT_EQ(queue_.run_due(worker_, 99), 0);
  EXPECT_FALSE(queue_.empty());
  EXPECT_EQ(queue_.run_due(worker_, 100), 1);
  EXPECT_TRUE(queue_.empty());
}

TEST_F(TimerTest, ATimerThatIsTakenOutDoesNotRun) {
  Noted early = timer_due(10);
  Noted middle = timer_due(20);
  Noted late = timer_due(30);
  middle.is_poll = true;
  for (Noted* timer : {&late, &early, &middle})
    queue_.add(*timer);
  queue_.remove(middle);
  EXPECT_FALSE(queue_.has_only_polls());
  queue_.remove(early);
  EXPECT_EQ(queue_.next_due_ns(), 30);
  EXPECT_EQ(queue_.run_due(worker_, 100), 1);
  EXPECT_EQ(ran_due_ns_, (std::vector<std::int64_t>{30}));
}

TEST_F(TimerTest, ATimerMaySetItselfAgain) {
  struct Repeating : Timer {
    TimerQueue* queue = nullptr;
    int run_count = 0;
  } timer;

  timer.due_ns = 1;
  timer.queue = &queue_;
  timer.run = [](Worker&, Timer& self) {
    auto& repeating = static_cast<Repeating&>(self);
    ++repeating.run_count;
    repeating.due_ns += 10;
    repeating.queue->add(repeating);
  };
  queue_.add(timer);
  EXPECT_EQ(queue_.run_due(worker_, 25), 3);
  EXPECT_EQ(timer.run_count, 3);
  EXPECT_EQ(queue_.next_due_ns(), 31);
}

TEST_F(TimerTest, AnyOrderOfSettingRunsInTheOrderOfTime) {
  Prng prng(test_seed());
  std::vector<Noted> timers;
  for (int i = 0; i < 100; ++i)
    timers.push_back(timer_due(static_cast<std::int64_t>(prng.below(50))));
  for (Noted& timer : timers)
    queue_.add(timer);
  EXPECT_EQ(queue_.run_due(worker_, 50), 100);
  EXPECT_TRUE(std::is_sorted(ran_due_ns_.begin(), ran_due_ns_.end()));
}

}  // namespace
}  // namespace sorrel::core
