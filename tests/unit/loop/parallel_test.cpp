// The C++ interface, over the C interface of the process's team.
#include "sorrel/parallel.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace sorrel {
namespace {

TEST(ParallelForTest, BodiesTakeAnIndexOrARange) {
  std::vector<int> by_index(1000);
  EXPECT_TRUE(
      parallel_for(0, 1000, [&](std::int64_t i) { ++by_index[static_cast<std::size_t>(i)]; }));
  std::vector<int> by_range(1000);
  parallel_for(0, 1000, [&](Range part) {
    for (std::int64_t i = part.begin; i < part.end; ++i)
      ++by_range[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(by_index, std::vector<int>(1000, 1));
  EXPECT_EQ(by_range, by_index);
}

TEST(ParallelForTest, TilesOfABoxAreVisitedOnce) {
  std::vector<int> visits(50 * 70);
  parallel_for(Blocked<2>({{{0, 50}, {0, 70}}}, {8, 16}), [&](const Tile<2>& tile) {
    for (std::int64_t i = tile[0].begin; i < tile[0].end; ++i)
      for (std::int64_t j = tile[1].begin; j < tile[1].end; ++j)
        ++visits[static_cast<std::size_t>(i * 70 + j)];
  });
  EXPECT_EQ(visits, std::vector<int>(50 * 70, 1));
}

TEST(ParallelForTest, AnEmptyRangeRunsNothing) {
  EXPECT_TRUE(parallel_for(5, 5, [](std::int64_t) { FAIL(); }));
  EXPECT_TRUE(parallel_for(5, -5, [](std::int64_t) { FAIL(); }));
}

/// Slows a body: a helper alone needs seconds for the rest of a loop, however late the
/// cancellation.
void take_a_while(bool does) {
  if (does) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

TEST(ParallelForTest, AnExceptionComesOutOfTheLoopAndEndsIt) {
  std::atomic<std::int64_t> ran{0};
  try {
    parallel_for(0, 100'000,
                 [&](std::int64_t i) {
                   ran.fetch_add(1, std::memory_order_relaxed);
                   if (i == 10) throw std::runtime_error("ten");
                   take_a_while(i > 10);
                 },
                 {Schedule::dynamic, 1, 0});
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(error.what(), std::string("ten"));
  }
  EXPECT_LT(ran.load(std::memory_order_relaxed), 100'000);
}

TEST(ParallelForTest, ABodyMayCancel) {
  std::atomic<std::int64_t> ran{0};
  EXPECT_FALSE(parallel_for(0, 100'000,
                            [&](std::int64_t i) {
                              ran.fetch_add(1, std::memory_order_relaxed);
                              take_a_while(i > 10);
                              return i == 10 ? LoopControl::cancel : LoopControl::go_on;
                            },
                            {Schedule::dynamic, 1, 0}));
  EXPECT_LT(ran.load(std::memory_order_relaxed), 100'000);
}

double harmonic_sum(const LoopOptions& options) {
  return parallel_reduce(
      1, 100'001, 0.0,
      [](Range part, double sum) {
        for (std::int64_t i = part.begin; i < part.end; ++i)
          sum += 1.0 / static_cast<double>(i);
        return sum;
      },
      std::plus<>(), options);
}

TEST(ParallelReduceTest, TheResultIsTheSameToTheLastBitWhateverRunsIt) {
  const double alone = harmonic_sum({Schedule::automatic, 0, 1});
  EXPECT_NEAR(alone, std::log(100'000) + 0.5772156649, 1e-4);
  for (int round = 0; round < 200; ++round) {
    EXPECT_EQ(harmonic_sum({}), alone);
    EXPECT_EQ(harmonic_sum({Schedule::dynamic, 1, 0}), alone);
  }
}

TEST(ParallelReduceTest, CombinesInTheOrderOfTheIterations) {
  const auto text = parallel_reduce(
      0, 500, std::string(),
      [](Range part, std::string sum) {
        for (std::int64_t i = part.begin; i < part.end; ++i)
          sum += std::to_string(i) + " ";
        return sum;
      },
      [](std::string left, const std::string& right) { return left + right; });
  std::string expected;
  for (int i = 0; i < 500; ++i)
    expected += std::to_string(i) + " ";
  EXPECT_EQ(text, expected);
}

TEST(ParallelReduceTest, NothingIsTheIdentity) {
  EXPECT_EQ(parallel_reduce(3, 3, 7, [](Range, int) { return 0; }, std::plus<>()), 7);
}

template <std::size_t bytes>
struct Big {
  std::int64_t sum = 0;
  char rest[bytes];
};

template <std::size_t bytes>
void expect_c_reduction() {
  Big<bytes> result{};
  const sorrel_reduce_body body = [](void*, std::int64_t begin, std::int64_t end, void* partial) {
    for (std::int64_t i = begin; i < end; ++i)
      static_cast<Big<bytes>*>(partial)->sum += i;
    return 0;
  };
  const sorrel_reduce_combine combine = [](void*, void* into, const void* from) {
    static_cast<Big<bytes>*>(into)->sum += static_cast<const Big<bytes>*>(from)->sum;
  };
  EXPECT_EQ(
      sorrel_parallel_reduce(0, 10'000, body, combine, nullptr, &result, sizeof result, nullptr),
      0);
  EXPECT_EQ(result.sum, 10'000 * 9'999 / 2);
}

TEST(ParallelReduceTest, TheCBindingTakesValuesOfAnySize) {
  expect_c_reduction<1>();
  expect_c_reduction<1000>();
}

TEST(ParallelForTest, AChildProcessHasLoopsToo) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer starts no threads in a child of threads";
#endif
  parallel_for(0, 100'000, [](std::int64_t) {});
  const pid_t child = fork();
  if (child == 0) {
    std::atomic<std::int64_t> ran{0};
    parallel_for(0, 100'000, [&](std::int64_t) { ran.fetch_add(1, std::memory_order_relaxed); });
    _exit(ran.load(std::memory_order_relaxed) == 100'000 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace sorrel
