/// @file
/// Parallel loops, reductions, scans and sorting in C++17, over sorrel.h, whose rules apply here
/// too.
///
///   sorrel::parallel_for(0, n, [&](std::int64_t i) { y[i] += a * x[i]; });
///   sorrel::parallel_for(0, n, [&](sorrel::Range part) { for (std::int64_t i : part) ...; });
///   sorrel::parallel_for(sorrel::Blocked<2>({{0, 0}, {rows, columns}}, {64, 64}),
///                        [&](const sorrel::Tile<2>& tile) { for (auto [i, j] : tile) ...; });
///   double sum = sorrel::parallel_reduce(0, n, 0.0,
///       [&](sorrel::Range part, double sum) { for (auto i : part) sum += x[i]; return sum; },
///       std::plus<>());
///   sorrel::parallel_inclusive_scan(x.begin(), x.end(), y.begin());
///   sorrel::parallel_sort(x.begin(), x.end());
///
/// A body may throw: chunks that have not begun are skipped, and the loop rethrows one of the
/// exceptions. A body that returns sorrel::LoopControl may cancel its loop.
#ifndef SORREL_PARALLEL_HPP
#define SORREL_PARALLEL_HPP

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "../sorrel.h"
#include "box.hpp"
#include "range.hpp"

namespace sorrel {

/// How a loop is cut into chunks; see sorrel_schedule.
enum class Schedule {
  automatic = SORREL_AUTOMATIC,
  fixed = SORREL_STATIC,
  dynamic = SORREL_DYNAMIC,
  guided = SORREL_GUIDED,
};

/// Options of a loop.
struct LoopOptions {
  /// How the loop is cut into chunks.
  Schedule schedule = Schedule::automatic;
  /// Iterations of the smallest chunk; 0: the default of the schedule.
  std::int64_t grain = 0;
  /// Maximum number of threads, the caller included; 0: as many as the governor grants.
  int threads_max = 0;
};

/// What a body may return: whether its loop continues.
enum class LoopControl { go_on, cancel };

namespace detail {

inline constexpr int cancelled = 1;

/// Of the calling thread or rank; 0: none.
#if defined(__GNUC__)
[[gnu::visibility("default")]]
#endif
inline thread_local int thread_limit = 0;

/// State shared by the chunks of a loop: the body, and the first exception.
template <class Body>
struct LoopFrame {
  Body& body;
  std::atomic<bool> has_exception{false};
  std::exception_ptr exception{};

  /// Runs `work`. An exception is kept, and cancels the loop.
  template <class Work>
  int guard(Work&& work) noexcept {
#if defined(__cpp_exceptions)
    try {
      return work();
    } catch (...) {
      // Relaxed: the caller reads the exception after the end of the loop.
      if (!has_exception.exchange(true, std::memory_order_relaxed))
        exception = std::current_exception();
      return cancelled;
    }
#else
    return work();
#endif
  }

  void rethrow() {
    if (exception) std::rethrow_exception(std::move(exception));
  }
};

/// Calls the body with `arguments`. Returns whether to cancel the loop.
template <class Body, class Argument>
int call(Body& body, Argument&& argument) {
  if constexpr (std::is_same_v<std::invoke_result_t<Body&, Argument>, LoopControl>) {
    return body(std::forward<Argument>(argument)) == LoopControl::cancel ? cancelled : 0;
  } else {
    body(std::forward<Argument>(argument));
    return 0;
  }
}

inline sorrel_loop_options to_c(const LoopOptions& options) {
  sorrel_loop_options result{};
  result.schedule = static_cast<sorrel_schedule>(options.schedule);
  result.grain = options.grain;
  result.threads_max = options.threads_max;
  if (thread_limit != 0 && (result.threads_max == 0 || result.threads_max > thread_limit))
    result.threads_max = thread_limit;
  return result;
}

template <class Body>
int run_part(void* argument, std::int64_t begin, std::int64_t end) {
  auto& frame = *static_cast<LoopFrame<Body>*>(argument);
  return frame.guard([&] {
    if constexpr (std::is_invocable_v<Body&, Range>) {
      return call(frame.body, Range{begin, end});
    } else {
      for (std::int64_t i = begin; i < end; ++i) {
        if (const int outcome = call(frame.body, i); outcome != 0) return outcome;
      }
      return 0;
    }
  });
}

}  // namespace detail

/// A handle for the number of threads: as long as it exists, each loop that the calling thread or
/// rank starts by this header uses at most so many threads. Handles nest; the smallest limit holds.
/// Loops of other threads and ranks, and loops that bodies start on helpers, are not limited.
/// @code
/// sorrel::ThreadLimit two(2);
/// sorrel::parallel_for(0, n, body);  // on at most two threads
/// @endcode
class ThreadLimit {
 public:
  /// @param count maximum number of threads, the caller included; below 1 counts as 1
  explicit ThreadLimit(int count) : before_(detail::thread_limit) {
    if (count < 1) count = 1;
    if (before_ == 0 || count < before_) detail::thread_limit = count;
  }

  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

  /// The limit before this handle holds again. On the thread or rank that made the handle.
  ~ThreadLimit() { detail::thread_limit = before_; }

  /// @return the number of threads that a loop of the caller may use now, the caller included
  static int threads() {
    const int granted = sorrel_loop_threads();
    return detail::thread_limit != 0 && detail::thread_limit < granted ? detail::thread_limit
                                                                       : granted;
  }

 private:
  int before_;
};

/// Runs body(i) for begin <= i < end, or body(Range) on parts that cover it. May suspend.
///
/// @param begin the first iteration
/// @param end one past the last iteration
/// @param body may run on several threads at once, and may throw
/// @param options schedule, grain and number of threads
/// @return false if the loop was cancelled
/// @throws any one of the exceptions that bodies have thrown
template <class Body>
bool parallel_for(std::int64_t begin,
                  std::int64_t end,
                  Body&& body,
                  const LoopOptions& options = {}) {
  using Plain = std::remove_reference_t<Body>;
  constexpr bool is_body =
      std::disjunction_v<std::is_invocable<Plain&, Range>, std::is_invocable<Plain&, std::int64_t>>;
  static_assert(is_body,
                "the body of parallel_for takes an index, body(std::int64_t), or a part, "
                "body(sorrel::Range)");
  if constexpr (is_body) {
    detail::LoopFrame<Plain> frame{body};
    const sorrel_loop_options c_options = detail::to_c(options);
    const int outcome =
        sorrel_parallel_for(begin, end, detail::run_part<Plain>, &frame, &c_options);
    if (outcome == 0) return true;
    frame.rethrow();
  }
  return false;
}

/// Runs body(tile) for every tile of `blocked`. May suspend.
///
/// @param blocked the tiles
/// @param body may run on several threads at once, and may throw
/// @param options schedule, grain in tiles, and number of threads
/// @return false if the loop was cancelled
/// @throws any one of the exceptions that bodies have thrown
template <std::size_t dimensions, class Body>
bool parallel_for(const Blocked<dimensions>& blocked,
                  Body&& body,
                  const LoopOptions& options = {}) {
  constexpr bool is_body = std::is_invocable_v<Body&, const Tile<dimensions>&>;
  static_assert(is_body,
                "the body of parallel_for over a Blocked takes a tile of as many dimensions, "
                "body(const sorrel::Tile<dimensions>&)");
  if constexpr (is_body) {
    return parallel_for(
        0, blocked.count(), [&](std::int64_t index) { return body(blocked.tile(index)); }, options);
  } else {
    return false;
  }
}

/// Number of leaves of a reduction or a scan, for any number of threads.
inline constexpr std::int64_t reduce_leaf_count = 64;

namespace detail {

/// The parts of a reduction or a scan, which depend on the iterations alone.
class Leaves {
 public:
  explicit Leaves(const Range& all)
      : all_(all), count_(all.size() < reduce_leaf_count ? all.size() : reduce_leaf_count) {}

  std::int64_t count() const { return count_; }

  Range operator[](std::int64_t leaf) const {
    const std::int64_t quotient = all_.size() / count_;
    const std::int64_t rest = all_.size() % count_;
    const std::int64_t first = all_.lo + quotient * leaf + (leaf < rest ? leaf : rest);
    return {first, first + quotient + (leaf < rest ? 1 : 0)};
  }

 private:
  Range all_;
  std::int64_t count_;
};

template <class Value>
using LeafValues = std::array<std::optional<Value>, reduce_leaf_count>;

}  // namespace detail

/// Combines body(Range, identity) over parts that cover [begin, end), in order:
/// combine(combine(identity, first), second) and so on. Parts and order depend on begin and end
/// alone, so the result is the same to the last bit for any number of threads. May suspend.
///
/// @param begin the first iteration
/// @param end one past the last iteration
/// @param identity the neutral element of `combine`
/// @param body adds a part to a value, and returns it
/// @param combine adds two values
/// @param options schedule, grain and number of threads
/// @return `identity` for an empty range
/// @throws any one of the exceptions that `body` and `combine` have thrown
template <class Value, class Body, class Combine>
Value parallel_reduce(std::int64_t begin,
                      std::int64_t end,
                      const Value& identity,
                      Body&& body,
                      Combine&& combine,
                      const LoopOptions& options = {}) {
  constexpr bool is_body = std::is_invocable_r_v<Value, Body&, Range, Value>;
  constexpr bool is_combine = std::is_invocable_r_v<Value, Combine&, Value, Value>;
  static_assert(is_body,
                "the body of parallel_reduce adds a part to a value, Value body(sorrel::Range, "
                "Value), where Value is the type of `identity`");
  static_assert(is_combine,
                "the last function of parallel_reduce combines two values, Value combine(Value, "
                "Value), where Value is the type of `identity`");
  Value result = identity;
  if constexpr (is_body && is_combine) {
    const detail::Leaves leaves(Range{begin, end});
    detail::LeafValues<Value> values;
    parallel_for(
        0, leaves.count(),
        [&](std::int64_t leaf) {
          values[static_cast<std::size_t>(leaf)].emplace(body(leaves[leaf], Value(identity)));
        },
        options);
    for (std::int64_t leaf = 0; leaf < leaves.count(); ++leaf)
      result = combine(std::move(result), std::move(*values[static_cast<std::size_t>(leaf)]));
  }
  return result;
}

/// Scans [begin, end): each part of it gets the combination of all iterations before it. Calls
/// body(part, before, is_last) twice for each part but the last one: first with the identity, to
/// learn what the part adds, and then with the value of all parts before it and `is_last` true, to
/// write results. Parts and order depend on begin and end alone, so the results are the same to the
/// last bit for any number of threads. May suspend.
///
/// @param begin the first iteration
/// @param end one past the last iteration
/// @param identity the neutral element of `combine`
/// @param body adds a part to a value, and returns it
/// @param combine adds two values
/// @param options schedule, grain and number of threads
/// @return the combination of all iterations; `identity` for an empty range
/// @throws any one of the exceptions that `body` and `combine` have thrown
template <class Value, class Body, class Combine>
Value parallel_scan(std::int64_t begin,
                    std::int64_t end,
                    const Value& identity,
                    Body&& body,
                    Combine&& combine,
                    const LoopOptions& options = {}) {
  constexpr bool is_body = std::is_invocable_r_v<Value, Body&, Range, Value, bool>;
  constexpr bool is_combine = std::is_invocable_r_v<Value, Combine&, Value, Value>;
  static_assert(is_body,
                "the body of parallel_scan adds a part to a value, Value body(sorrel::Range, "
                "Value, bool is_last), where Value is the type of `identity`");
  static_assert(is_combine,
                "the last function of parallel_scan combines two values, Value combine(Value, "
                "Value), where Value is the type of `identity`");
  Value result = identity;
  if constexpr (is_body && is_combine) {
    const detail::Leaves leaves(Range{begin, end});
    const std::int64_t last = leaves.count() - 1;
    if (last < 0) return result;
    detail::LeafValues<Value> before;
    const auto value_before = [&](std::int64_t leaf) -> std::optional<Value>& {
      return before[static_cast<std::size_t>(leaf)];
    };
    // What each leaf adds, at the place of the next one.
    parallel_for(
        0, last,
        [&](std::int64_t leaf) {
          value_before(leaf + 1).emplace(body(leaves[leaf], Value(identity), false));
        },
        options);
    value_before(0).emplace(identity);
    for (std::int64_t leaf = 1; leaf <= last; ++leaf)
      value_before(leaf).emplace(
          combine(Value(*value_before(leaf - 1)), std::move(*value_before(leaf))));
    std::optional<Value> total;
    parallel_for(
        0, last + 1,
        [&](std::int64_t leaf) {
          Value after = body(leaves[leaf], std::move(*value_before(leaf)), true);
          if (leaf == last) total.emplace(std::move(after));
        },
        options);
    result = std::move(*total);
  }
  return result;
}

namespace detail {

template <class Iterator>
inline constexpr bool is_random_access =
    std::is_base_of_v<std::random_access_iterator_tag,
                      typename std::iterator_traits<Iterator>::iterator_category>;

/// A scan of values; `first` is the value before the first one, or none. Writes what is before each
/// value, or with `is_inclusive` also the value itself.
template <bool is_inclusive, class Value, class In, class Out, class Combine>
Out scan_values(In first,
                In last,
                Out out,
                const std::optional<Value>& initial,
                Combine& combine,
                const LoopOptions& options) {
  static_assert(is_random_access<In> && is_random_access<Out>,
                "parallel scans need random access iterators");
  using Sum = std::optional<Value>;
  const auto add = [&](Sum one, Sum other) -> Sum {
    if (!one) return other;
    if (!other) return one;
    return Sum(combine(std::move(*one), std::move(*other)));
  };
  // The first part begins with `initial`, so all that follow contain it.
  const auto body = [&](Range part, Sum before, bool is_last) -> Sum {
    if (part.lo == 0 && initial) before = initial;
    std::int64_t i = part.lo;
    if (!before) {
      before.emplace(first[i]);
      if (is_last) out[i] = *before;
      ++i;
    }
    Value sum = std::move(*before);
    for (; i < part.hi; ++i) {
      if constexpr (is_inclusive) {
        sum = combine(std::move(sum), first[i]);
        if (is_last) out[i] = sum;
      } else {
        Value next = combine(sum, first[i]);
        if (is_last) out[i] = std::move(sum);
        sum = std::move(next);
      }
    }
    return Sum(std::move(sum));
  };
  const auto count = static_cast<std::int64_t>(last - first);
  parallel_scan(0, count, Sum(), body, add, options);
  return out + static_cast<typename std::iterator_traits<Out>::difference_type>(count);
}

}  // namespace detail

/// Writes the sums of the first one, two, three values and so on, as std::inclusive_scan() does.
/// The order of additions depends on the number of values alone, so the results are the same to the
/// last bit for any number of threads. May suspend.
///
/// @param first the first value; random access
/// @param last one past the last value
/// @param out the first result; may be `first`
/// @param combine adds two values; associative
/// @param options schedule, grain and number of threads
/// @return one past the last result
/// @throws any one of the exceptions that `combine` has thrown
template <class In, class Out, class Combine = std::plus<>>
Out parallel_inclusive_scan(
    In first, In last, Out out, Combine combine = {}, const LoopOptions& options = {}) {
  using Value = typename std::iterator_traits<In>::value_type;
  return detail::scan_values<true, Value>(first, last, out, std::optional<Value>(), combine,
                                          options);
}

/// Writes the initial value, then its sum with the first value, with the first two and so on, as
/// std::exclusive_scan() does. The order of additions depends on the number of values alone. May
/// suspend.
///
/// @param first the first value; random access
/// @param last one past the last value
/// @param out the first result; may be `first`
/// @param initial the first result
/// @param combine adds two values; associative
/// @param options schedule, grain and number of threads
/// @return one past the last result
/// @throws any one of the exceptions that `combine` has thrown
template <class In, class Out, class Value, class Combine = std::plus<>>
Out parallel_exclusive_scan(In first,
                            In last,
                            Out out,
                            Value initial,
                            Combine combine = {},
                            const LoopOptions& options = {}) {
  return detail::scan_values<false, Value>(
      first, last, out, std::optional<Value>(std::move(initial)), combine, options);
}

namespace detail {

/// Merge sort in rounds. The values move to a buffer, are sorted there in runs, and are merged to
/// and fro; the number of rounds is odd, so they end where they were.
template <class Iterator, class Compare>
class MergeSort {
  using Value = typename std::iterator_traits<Iterator>::value_type;
  static_assert(std::is_nothrow_move_constructible_v<Value> &&
                    std::is_nothrow_move_assignable_v<Value>,
                "parallel_sort needs values whose moves do not throw");

  /// Values of a piece, the unit of work of a merge.
  static constexpr std::int64_t piece_size = 2048;

 public:
  MergeSort(Iterator first, std::int64_t count, Compare& compare, const LoopOptions& options)
      : first_(first), count_(count), compare_(compare), options_(options) {
    // A piece or a run is a unit of work: no grain of the caller's.
    options_.schedule = Schedule::dynamic;
    options_.grain = 1;
  }

  /// Whether it takes more than one run.
  static bool is_worthwhile(std::int64_t count) { return count >= 4 * piece_size; }

  void run() {
    const int rounds = count_ >= 128 * 4 * piece_size ? 7 : count_ >= 32 * 4 * piece_size ? 5 : 3;
    const std::int64_t pieces = (count_ + piece_size - 1) / piece_size;
    const std::int64_t run_count = std::int64_t{1} << rounds;
    std::int64_t run_size = (pieces + run_count - 1) / run_count * piece_size;
    Buffer buffer(first_, count_, options_);
    for_each_of(run_size, [&](std::int64_t begin, std::int64_t end) {
      std::stable_sort(buffer.data() + begin, buffer.data() + end, std::ref(compare_));
    });
    for (int round = 0; round < rounds; ++round, run_size *= 2) {
      if (round % 2 == 0) {
        merge_runs(buffer.data(), first_, run_size);
      } else {
        merge_runs(first_, buffer.data(), run_size);
      }
    }
  }

 private:
  /// As many values, moved there.
  class Buffer {
   public:
    Buffer(Iterator first, std::int64_t count, const LoopOptions& options)
        : values_(std::allocator<Value>().allocate(static_cast<std::size_t>(count))),
          count_(count) {
      parallel_for(0, count,
                   [&](Range part) {
                     std::uninitialized_move(first + part.lo, first + part.hi, values_ + part.lo);
                   },
                   {Schedule::fixed, 0, options.threads_max});
    }

    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;

    ~Buffer() {
      std::destroy_n(values_, count_);
      std::allocator<Value>().deallocate(values_, static_cast<std::size_t>(count_));
    }

    Value* data() const { return values_; }

   private:
    Value* values_;
    std::int64_t count_;
  };

  template <class Work>
  void for_each_of(std::int64_t size, Work&& work) {
    parallel_for(
        0, (count_ + size - 1) / size,
        [&](std::int64_t i) { work(i * size, std::min((i + 1) * size, count_)); }, options_);
  }

  /// How many of the first `taken` values of two merged runs come from the first one; equal values
  /// of the first run come first.
  template <class From>
  std::int64_t taken_of_first(
      From one, std::int64_t one_size, From other, std::int64_t other_size, std::int64_t taken) {
    std::int64_t low = std::max<std::int64_t>(0, taken - other_size);
    std::int64_t high = std::min(taken, one_size);
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (compare_(std::as_const(other[taken - middle - 1]), std::as_const(one[middle]))) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /// Not std::merge() with iterators that move: a comparison that takes its arguments by value
  /// would empty them.
  template <class From, class To>
  void merge(From one, From one_end, From other, From other_end, To to) {
    while (one != one_end && other != other_end) {
      From& next = compare_(std::as_const(*other), std::as_const(*one)) ? other : one;
      *to = std::move(*next);
      ++next;
      ++to;
    }
    std::move(other, other_end, std::move(one, one_end, to));
  }

  /// Merges runs of that size by twos.
  template <class From, class To>
  void merge_runs(From from, To to, std::int64_t run_size) {
    // Splits first: merging moves values that the search compares.
    std::vector<std::int64_t> splits(
        static_cast<std::size_t>((count_ + piece_size - 1) / piece_size));
    const auto pair_of = [&](std::int64_t begin) {
      const std::int64_t lo = begin / (2 * run_size) * (2 * run_size);
      return std::array<std::int64_t, 3>{lo, std::min(lo + run_size, count_),
                                         std::min(lo + 2 * run_size, count_)};
    };
    for_each_of(piece_size, [&](std::int64_t begin, std::int64_t) {
      const auto [lo, middle, hi] = pair_of(begin);
      splits[static_cast<std::size_t>(begin / piece_size)] =
          taken_of_first(from + lo, middle - lo, from + middle, hi - middle, begin - lo);
    });
    for_each_of(piece_size, [&](std::int64_t begin, std::int64_t end) {
      const auto [lo, middle, hi] = pair_of(begin);
      const auto piece = static_cast<std::size_t>(begin / piece_size);
      const std::int64_t one = splits[piece];
      const std::int64_t one_end = end == hi ? middle - lo : splits[piece + 1];
      const std::int64_t other = begin - lo - one;
      const std::int64_t other_end = end - lo - one_end;
      merge(from + lo + one, from + lo + one_end, from + middle + other, from + middle + other_end,
            to + begin);
    });
  }

  Iterator first_;
  std::int64_t count_;
  Compare& compare_;
  LoopOptions options_;
};

}  // namespace detail

/// Sorts [first, last); equal values keep their order, as by std::stable_sort(). Takes as much
/// memory again. May suspend.
///
/// @param first the first value; random access, with moves that do not throw
/// @param last one past the last value
/// @param compare whether a value comes before another one; may run on several threads at once
/// @param options the number of threads; schedule and grain are ignored
/// @throws any one of the exceptions that `compare` has thrown; the values are then unspecified
template <class Iterator, class Compare = std::less<>>
void parallel_sort(Iterator first,
                   Iterator last,
                   Compare compare = {},
                   const LoopOptions& options = {}) {
  using Value = typename std::iterator_traits<Iterator>::value_type;
  constexpr bool is_compare = std::is_invocable_r_v<bool, Compare&, const Value&, const Value&>;
  static_assert(detail::is_random_access<Iterator>, "parallel_sort needs random access iterators");
  static_assert(is_compare,
                "the comparison of parallel_sort takes two values, bool compare(const Value&, "
                "const Value&)");
  if constexpr (detail::is_random_access<Iterator> && is_compare) {
    using Sort = detail::MergeSort<Iterator, Compare>;
    const auto count = static_cast<std::int64_t>(last - first);
    if (!Sort::is_worthwhile(count)) {
      std::stable_sort(first, last, compare);
    } else {
      Sort(first, count, compare, options).run();
    }
  }
}

}  // namespace sorrel

#endif
