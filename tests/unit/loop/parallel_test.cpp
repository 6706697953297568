// The C++ interface, over the C interface of the process's team.
#include "sorrel/parallel.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace sorrel {
namespace {

TEST(ParallelForTest, BodiesTakeAnIndexOrARange) {
  std::vector<int> by_index(1000);
  parallel_for(0, 1000, [&](std::int64_t i) { ++by_index[static_cast<std::size_t>(i)]; });
  std::vector<int> by_range(1000);
  parallel_for(0, 1000, [&](Range part) {
    for (std::int64_t i = part.lo; i < part.hi; ++i)
      ++by_range[static_cast<std::size_t>(i)];
  });
  EXPECT_EQ(by_index, std::vector<int>(1000, 1));
  EXPECT_EQ(by_range, by_index);
}

TEST(ParallelForTest, TilesOfABoxAreVisitedOnce) {
  std::vector<int> visits(50 * 70);
  parallel_for(Blocked<2>({{0, 0}, {50, 70}}, {8, 16}), [&](const Box<2>& tile) {
    for (const auto& [i, j] : tile)
      ++visits[static_cast<std::size_t>(i * 70 + j)];
  });
  EXPECT_EQ(visits, std::vector<int>(50 * 70, 1));
}

TEST(ParallelForTest, AnEmptyRangeRunsNothing) {
  parallel_for(5, 5, [](std::int64_t) { FAIL(); });
  parallel_for(5, -5, [](std::int64_t) { FAIL(); });
  const std::vector<int> none;
  parallel_for(none, [](int) { FAIL(); });
}

/// The sum of all indices as their body gets them, and how many there were.
template <class Index, class First, class Last>
std::pair<std::uint64_t, std::int64_t> sum_of_indices(First begin, Last end) {
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::int64_t> count{0};
  parallel_for(begin, end, [&](Index i) {
    sum.fetch_add(static_cast<std::uint64_t>(i), std::memory_order_relaxed);
    count.fetch_add(1, std::memory_order_relaxed);
  });
  return {sum.load(std::memory_order_relaxed), count.load(std::memory_order_relaxed)};
}

TEST(ParallelForTest, IndicesHaveTheTypeOfBeginAndEnd) {
  const std::pair<std::uint64_t, std::int64_t> all{1000 * 999 / 2, 1000};
  EXPECT_EQ(sum_of_indices<int>(0, 1000), all);
  EXPECT_EQ(sum_of_indices<short>(short{0}, short{1000}), all);
  EXPECT_EQ(sum_of_indices<std::uint32_t>(0U, 1000U), all);
  EXPECT_EQ(sum_of_indices<std::size_t>(std::size_t{0}, std::size_t{1000}), all);
  EXPECT_EQ(sum_of_indices<std::int64_t>(0, std::size_t{1000}), all);
  constexpr std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(sum_of_indices<std::uint64_t>(last - 3, last),
            (std::pair<std::uint64_t, std::int64_t>{3 * last - 6, 3}));
  constexpr std::int64_t first = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(sum_of_indices<std::int64_t>(first, first + 2).second, 2);
}

TEST(ParallelForTest, PartsHaveTheTypeOfIndicesOr64Bits) {
  std::atomic<std::size_t> sum{0};
  const std::size_t count = 1000;
  parallel_for(std::size_t{0}, count, [&](BasicRange<std::size_t> part) {
    for (const std::size_t i : part)
      sum.fetch_add(i, std::memory_order_relaxed);
  });
  EXPECT_EQ(sum.load(std::memory_order_relaxed), 1000U * 999 / 2);
  std::atomic<std::int64_t> size{0};
  parallel_for(std::size_t{0}, count, [&](Range part) { size += part.size(); });
  EXPECT_EQ(size.load(std::memory_order_relaxed), 1000);
  const std::uint64_t too_large = (std::uint64_t{1} << 63) + 1;
  EXPECT_THROW(parallel_for(too_large - 1, too_large, [](Range) { FAIL(); }),
               std::invalid_argument);
}

TEST(ParallelForTest, EveryValueOfARangeIsVisitedOnce) {
  std::vector<int> values(10'000, 1);
  parallel_for(values, [](int& value) { ++value; });
  EXPECT_EQ(values, std::vector<int>(10'000, 2));
  std::vector<int> visits(50 * 70);
  parallel_for(Box<2>{{0, 0}, {50, 70}}, [&](Box<2>::Point point) {
    ++visits[static_cast<std::size_t>(point[0] * 70 + point[1])];
  });
  EXPECT_EQ(visits, std::vector<int>(50 * 70, 1));
  const LoopControl end = parallel_for(
      values, [](int value) { return value == 2 ? LoopControl::cancel : LoopControl::go_on; });
  EXPECT_EQ(end, LoopControl::cancel);
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
  const auto body = [&](std::int64_t i) {
    ran.fetch_add(1, std::memory_order_relaxed);
    take_a_while(i > 10);
    return i == 10 ? LoopControl::cancel : LoopControl::go_on;
  };
  EXPECT_EQ(parallel_for(0, 100'000, body, {Schedule::dynamic, 1, 0}), LoopControl::cancel);
  EXPECT_EQ(parallel_for(11, 20, body), LoopControl::go_on);
  EXPECT_LT(ran.load(std::memory_order_relaxed), 100'000);
}

double harmonic_sum(const LoopOptions& options) {
  return parallel_reduce(
      1, 100'001, 0.0,
      [](Range part, double sum) {
        for (std::int64_t i = part.lo; i < part.hi; ++i)
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

TEST(ParallelReduceTest, TheValuesOfARangeAreCombinedInTheirOrder) {
  std::vector<std::string> words;
  std::string expected = "begin";
  for (int i = 0; i < 500; ++i)
    expected += words.emplace_back(std::to_string(i) + " ");
  // Appending is associative, and "" is its neutral element.
  EXPECT_EQ("begin" + parallel_reduce(words, std::string()), expected);
  EXPECT_EQ(parallel_reduce(std::vector<int>(), 7), 7);
}

TEST(ParallelReduceTest, CombinesInTheOrderOfTheIterations) {
  const auto text = parallel_reduce(
      0, 500, std::string(),
      [](Range part, std::string sum) {
        for (std::int64_t i = part.lo; i < part.hi; ++i)
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

// Goal: partial values do not fill the stack. Method: 64 of them are larger than it.
TEST(ParallelReduceTest, ValuesMayBeLarge) {
  using Histogram = std::array<long, 16384>;
  const auto zero = std::make_unique<Histogram>();
  const auto sum = std::make_unique<Histogram>(parallel_reduce(
      0, 1000, *zero,
      [](Range part, Histogram counts) {
        for (const std::int64_t i : part)
          ++counts[static_cast<std::size_t>(i % 100)];
        return counts;
      },
      [](Histogram one, const Histogram& other) {
        for (std::size_t i = 0; i < 100; ++i)
          one[i] += other[i];
        return one;
      }));
  EXPECT_EQ((*sum)[0], 10);
  EXPECT_EQ((*sum)[99], 10);
}

TEST(ParallelReduceTest, SmallIntegersMayComeBackAsInt) {
  const auto sum = parallel_reduce(
      0, 100, short{0},
      [](Range part, short value) { return value + static_cast<int>(part.size()); }, std::plus<>());
  EXPECT_EQ(sum, 100);
}

TEST(ParallelScanTest, APartGetsAllThatIsBeforeIt) {
  std::vector<std::int64_t> sums(10'000);
  const auto total = parallel_scan(
      0, 10'000, std::int64_t{0},
      [&](Range part, std::int64_t sum, bool is_last) {
        for (const std::int64_t i : part) {
          sum += i;
          if (is_last) sums[static_cast<std::size_t>(i)] = sum;
        }
        return sum;
      },
      std::plus<>());
  EXPECT_EQ(total, 10'000 * 9'999 / 2);
  for (std::int64_t i = 0; i < 10'000; ++i)
    ASSERT_EQ(sums[static_cast<std::size_t>(i)], i * (i + 1) / 2);
  EXPECT_EQ(parallel_scan(4, 4, 9, [](Range, int sum, bool) { return sum; }, std::plus<>()), 9);
}

std::vector<double> fractions(std::size_t count) {
  std::vector<double> values;
  for (std::size_t i = 1; i <= count; ++i)
    values.push_back(1.0 / static_cast<double>(i));
  return values;
}

TEST(ParallelScanTest, ValuesAreTheSameToTheLastBitWhateverRunsIt) {
  const std::vector<double> values = fractions(20'000);
  std::vector<double> alone(values.size());
  parallel_inclusive_scan(values.begin(), values.end(), alone.begin(), std::plus<>(),
                          {Schedule::automatic, 0, 1});
  EXPECT_NEAR(alone.back(), std::log(20'000) + 0.5772156649, 1e-4);
  for (int round = 0; round < 20; ++round) {
    std::vector<double> sums = values;
    const auto end = parallel_inclusive_scan(sums.begin(), sums.end(), sums.begin(), std::plus<>(),
                                             {Schedule::dynamic, 1, 0});
    EXPECT_EQ(end, sums.end());
    EXPECT_EQ(sums, alone);
  }
}

TEST(ParallelScanTest, ScansOfTextAgreeWithTheStandardLibrary) {
  for (const std::size_t count : {0, 1, 2, 63, 64, 65, 200}) {
    std::vector<std::string> letters;
    for (std::size_t i = 0; i < count; ++i)
      letters.push_back(std::string(1, static_cast<char>('a' + i % 26)));
    std::vector<std::string> expected(count);
    std::vector<std::string> found(count);
    std::inclusive_scan(letters.begin(), letters.end(), expected.begin(), std::plus<>());
    parallel_inclusive_scan(letters.begin(), letters.end(), found.begin());
    EXPECT_EQ(found, expected);
    std::exclusive_scan(letters.begin(), letters.end(), expected.begin(), std::string(">"));
    parallel_exclusive_scan(letters.begin(), letters.end(), letters.begin(), std::string(">"));
    EXPECT_EQ(letters, expected);
  }
}

/// A value with a key, and its place in the input.
struct Keyed {
  std::uint32_t key = 0;
  std::string place;
};

std::vector<Keyed> keyed(std::size_t count) {
  std::vector<Keyed> values;
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < count; ++i) {
    state = state * 1664525U + 1013904223U;
    values.push_back({state >> 22, std::to_string(i)});
  }
  return values;
}

TEST(ParallelSortTest, EqualValuesKeepTheirOrder) {
  // One run, and three, five and seven rounds with a rest.
  for (const std::size_t count : {0U, 1U, 1000U, 8192U, 10'001U, 300'000U, 1'100'001U}) {
    std::vector<Keyed> values = keyed(count);
    // By value: a comparison must not be able to empty a value.
    parallel_sort(values.begin(), values.end(), [](Keyed one, Keyed other) {
      const std::string kept = std::move(one.place);
      return one.key < other.key && !kept.empty();
    });
    std::vector<Keyed> expected = keyed(count);
    std::stable_sort(expected.begin(), expected.end(),
                     [](const Keyed& one, const Keyed& other) { return one.key < other.key; });
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(values[i].key, expected[i].key) << count << ": " << i;
      ASSERT_EQ(values[i].place, expected[i].place) << count << ": " << i;
    }
  }
}

TEST(ParallelSortTest, ValuesThatOnlyMoveAreSorted) {
  std::vector<std::unique_ptr<int>> values;
  for (int i = 0; i < 50'000; ++i)
    values.push_back(std::make_unique<int>((i * 7919) % 50'000));
  parallel_sort(values.begin(), values.end(),
                [](const auto& one, const auto& other) { return *one < *other; });
  for (int i = 0; i < 50'000; ++i)
    ASSERT_EQ(*values[static_cast<std::size_t>(i)], i);
}

// Goal: values that have no order, as NaN, are neither lost nor written elsewhere.
TEST(ParallelSortTest, ValuesWithoutAnOrderAreKept) {
  std::mt19937 random(7);
  for (int round = 0; round < 6; ++round) {
    std::vector<double> values(8192 + random() % 60'000);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = random() % 10 == 0 ? std::nan("") : static_cast<double>(i);
    std::shuffle(values.begin(), values.end(), random);
    const auto numbers_of = [](const std::vector<double>& all) {
      std::vector<double> numbers;
      for (const double value : all)
        if (!std::isnan(value)) numbers.push_back(value);
      std::sort(numbers.begin(), numbers.end());
      return numbers;
    };
    const std::vector<double> before = numbers_of(values);
    const std::size_t count = values.size();
    parallel_sort(values.begin(), values.end());
    EXPECT_EQ(values.size(), count);
    EXPECT_EQ(numbers_of(values), before);
  }
}

TEST(ParallelSortTest, AComparisonMayThrow) {
  std::vector<int> values(100'000);
  std::iota(values.begin(), values.end(), 0);
  EXPECT_THROW(parallel_sort(values.begin(), values.end(),
                             [](int one, int other) {
                               if (one == 77'777) throw std::runtime_error("compare");
                               return one > other;
                             }),
               std::runtime_error);
}

std::set<std::thread::id> threads_of_a_loop(const LoopOptions& options = {}) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  parallel_for(
      0, 64,
      [&](std::int64_t) {
        take_a_while(true);
        const std::lock_guard lock(mutex);
        threads.insert(std::this_thread::get_id());
      },
      options);
  return threads;
}

TEST(ThreadLimitTest, ALoopOfTheCallerUsesNoMoreThreads) {
  // Peer jobs and other load change the number of threads unless the program sets it.
  constexpr int before = 3;
  sorrel_set_threads(before);
  ASSERT_EQ(ThreadLimit::threads(), before);
  {
    const ThreadLimit two(2);
    EXPECT_EQ(ThreadLimit::threads(), 2);
    const ThreadLimit one(1);
    const ThreadLimit three(3);
    EXPECT_EQ(ThreadLimit::threads(), 1);
    EXPECT_EQ(threads_of_a_loop(), std::set{std::this_thread::get_id()});
    EXPECT_EQ(threads_of_a_loop({Schedule::dynamic, 1, 8}), std::set{std::this_thread::get_id()});
    std::thread([&] { EXPECT_EQ(ThreadLimit::threads(), before); }).join();
  }
  EXPECT_EQ(ThreadLimit::threads(), before);
  const ThreadLimit none(0);
  EXPECT_EQ(ThreadLimit::threads(), 1);
}

TEST(ThreadLimitTest, LoopsOfTheCInterfaceAreLimitedToo) {
  const int before = sorrel_limit_threads(1);
  EXPECT_EQ(before, 0);
  EXPECT_EQ(sorrel_loop_threads(), 1);
  std::set<std::thread::id> threads;
  const sorrel_loop_body body = [](void* all, std::int64_t, std::int64_t) {
    static_cast<std::set<std::thread::id>*>(all)->insert(std::this_thread::get_id());
    return 0;
  };
  EXPECT_EQ(sorrel_parallel_for(0, 10'000, body, &threads, nullptr), 0);
  EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
  EXPECT_EQ(sorrel_limit_threads(before), 1);
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

TEST(LoopOptionsTest, OptionsOfALaterVersionAreRefusedUnlessTheyAreZero) {
  const sorrel_loop_body body = [](void* count, std::int64_t begin, std::int64_t end) {
    static_cast<std::atomic<std::int64_t>*>(count)->fetch_add(end - begin);
    return 0;
  };
  std::atomic<std::int64_t> count{0};
  const auto run = [&](const sorrel_loop_options& options) {
    count = 0;
    return sorrel_parallel_for(0, 100, body, &count, &options);
  };
  EXPECT_EQ(run({}), 0);
  EXPECT_EQ(count, 100) << "all zero is the default";

  struct Later {
    sorrel_loop_options known;
    std::int64_t further;
  };

  Later later{};
  later.known.size = sizeof later;
  EXPECT_EQ(run(later.known), 0);
  EXPECT_EQ(count, 100);
  later.further = 1;
  EXPECT_EQ(run(later.known), SORREL_UNKNOWN_OPTION);
  EXPECT_EQ(count, 0) << "nothing was run";
  sorrel_loop_options wrong{};
  wrong.size = 8;
  EXPECT_EQ(run(wrong), SORREL_UNKNOWN_OPTION);
  wrong = {};
  wrong.flags = 2;
  EXPECT_EQ(run(wrong), SORREL_UNKNOWN_OPTION);
  wrong = {};
  // A number that is no value of the type, as a program in C can have.
  const int schedule = 16;
  static_assert(sizeof wrong.schedule == sizeof schedule);
  std::memcpy(&wrong.schedule, &schedule, sizeof schedule);
  EXPECT_EQ(run(wrong), SORREL_UNKNOWN_OPTION);
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
