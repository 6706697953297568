#include "os/futex.hpp"

#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "os/clock.hpp"

namespace sorrel::os {
namespace {

TEST(FutexTest, DoesNotSleepOnAnotherValue) {
  std::atomic<std::uint32_t> word{1};
  futex_wait(word, 0, -1);
}

TEST(FutexTest, SleepsUntilTheTimeIsOver) {
  std::atomic<std::uint32_t> word{0};
  const std::int64_t due_ns = monotonic_ns() + 2'000'000;
  // May return early: the caller checks the word again.
  for (std::int64_t now_ns = monotonic_ns(); now_ns < due_ns; now_ns = monotonic_ns())
    futex_wait(word, 0, due_ns - now_ns);
  EXPECT_GE(monotonic_ns(), due_ns);
}

TEST(FutexTest, ATimeOfZeroDoesNotSleep) {
  std::atomic<std::uint32_t> word{0};
  futex_wait(word, 0, 0);
}

TEST(FutexTest, AWakeUpEndsASleepWithoutLimit) {
  std::atomic<std::uint32_t> word{0};
  std::thread sleeper([&word] {
    while (word.load(std::memory_order_acquire) == 0)
      futex_wait(word, 0, -1);
  });
  word.store(1, std::memory_order_release);
  futex_wake_one(word);
  sleeper.join();
}

TEST(FutexTest, OneWakeUpForAllEndsEverySleep) {
  std::atomic<std::uint32_t> word{0};
  std::vector<std::jthread> sleepers;
  for (int i = 0; i < 3; ++i) {
    sleepers.emplace_back([&word] {
      while (word.load(std::memory_order_acquire) == 0)
        futex_wait(word, 0, -1);
    });
  }
  word.store(1, std::memory_order_release);
  futex_wake_all(word);
}  // joins them all

TEST(FutexTest, WakingNobodyIsAllowed) {
  std::atomic<std::uint32_t> word{0};
  futex_wake_one(word);
  futex_wake_all(word);
}

TEST(FutexTest, TwoThreadsTakeTurns) {
  constexpr std::uint32_t turn_count = 2000;
  std::atomic<std::uint32_t> word{0};
  const auto take_turns = [&word](std::uint32_t parity) {
    for (std::uint32_t turn = parity; turn < turn_count; turn += 2) {
      for (std::uint32_t seen; (seen = word.load(std::memory_order_acquire)) != turn;)
        futex_wait(word, seen, -1);
      word.store(turn + 1, std::memory_order_release);
      futex_wake_one(word);
    }
  };
  std::thread odd(take_turns, 1);
  take_turns(0);
  odd.join();
  EXPECT_EQ(word.load(std::memory_order_relaxed), turn_count);
}

}  // namespace
}  // namespace sorrel::os
