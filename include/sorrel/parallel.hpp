/// @file
/// Parallel loops, reductions, scans and sorting, over sorrel.h, whose rules apply here too.
///
///   sorrel::parallel_for(0, n, [&](int i) { y[i] += a * x[i]; });
///   sorrel::parallel_for(0, n, [&](sorrel::Range part) { for (std::int64_t i : part) ...; });
///   sorrel::parallel_for(values, [](double& value) { value *= 2; });
///   sorrel::parallel_for(sorrel::Blocked<2>({{0, 0}, {rows, columns}}, {64, 64}),
///                        [&](const sorrel::Box<2>& tile) { for (auto [i, j] : tile) ...; });
///   double sum = sorrel::parallel_reduce(0, n, 0.0,
///       [&](sorrel::Range part, double sum) { for (auto i : part) sum += x[i]; return sum; },
///       std::plus<>());
///   sorrel::parallel_inclusive_scan(x, y.begin());
///   sorrel::parallel_sort(x);
///
/// Indices are of any type of integers. Ranges are random access ranges of known size. A body may
/// throw: chunks that have not begun are skipped, and the loop rethrows one of the exceptions. A
/// body that returns sorrel::LoopControl may cancel its loop, which then returns whether it was.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <sorrel.h>
#include <sorrel/box.hpp>
#include <sorrel/lossless.hpp>
#include <sorrel/range.hpp>
#include <sorrel/require_cxx20.hpp>

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

/// What a body may return: whether its loop continues. A loop with such a body returns whether it
/// has continued to its end.
enum class [[nodiscard]] LoopControl { go_on, cancel };

namespace detail {

inline constexpr int cancelled = 1;

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

[[noreturn]] inline void refuse(const char* why) {
#if defined(__cpp_exceptions)
  throw std::invalid_argument(why);
#else
  static_cast<void>(why);
  std::abort();
#endif
}

template <class Body, class Argument>
inline constexpr bool may_cancel = std::same_as<std::invoke_result_t<Body&, Argument>, LoopControl>;

/// What a loop returns whose body takes an Argument.
template <class Body, class Argument>
using LoopResult = std::conditional_t<may_cancel<Body, Argument>, LoopControl, void>;

/// Calls the body with `arguments`. Returns whether to cancel the loop.
template <class Body, class Argument>
int call(Body& body, Argument&& argument) {
  if constexpr (may_cancel<Body, Argument>) {
    return body(std::forward<Argument>(argument)) == LoopControl::cancel ? cancelled : 0;
  } else {
    body(std::forward<Argument>(argument));
    return 0;
  }
}

template <class Body>
concept HasOneCall = !std::is_class_v<Body> || requires { &Body::operator(); };

/// The type of the indices from a First to a Last; 64 bits with a sign if only one of them has one.
template <class First, class Last>
using IndexOf = std::conditional_t<std::is_signed_v<First> == std::is_signed_v<Last>,
                                   std::common_type_t<First, Last>,
                                   std::int64_t>;

/// Integers of any type in the order of the C interface, which counts in 64 bits with a sign.
template <class Index>
inline constexpr std::uint64_t offset_of =
    std::is_unsigned_v<Index> && sizeof(Index) == 8 ? std::uint64_t{1} << 63 : 0;

template <class Index>
constexpr std::int64_t to_c(Index index) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(index) - offset_of<Index>);
}

template <class Index>
constexpr Index from_c(std::int64_t index) {
  return static_cast<Index>(static_cast<std::uint64_t>(index) + offset_of<Index>);
}

/// The part that a body takes: of the indices, or of 64 bits, for all types that fit.
template <class Body, class Index>
using PartOf =
    std::conditional_t<std::is_invocable_v<Body&, BasicRange<Index>>, BasicRange<Index>, Range>;

/// Whether a body takes either an index or a part. A generic function takes both; to ask for an
/// index, too, would not compile if it uses a part.
template <class Body, class Index>
constexpr bool says_what() {
  if constexpr (HasOneCall<Body>) {
    return true;
  } else {
    return !std::is_invocable_v<Body&, PartOf<Body, Index>>;
  }
}

/// What the body of a loop over indices takes; void: none of that.
template <class Body, class Index>
auto argument_of() {
  if constexpr (!says_what<Body, Index>()) {
    return;
  } else if constexpr (std::is_invocable_v<Body&, PartOf<Body, Index>>) {
    return PartOf<Body, Index>();
  } else if constexpr (std::is_invocable_v<Body&, Index>) {
    return Index();
  }
}

template <class Body, class Index>
using ArgumentOf = decltype(argument_of<Body, Index>());

/// LoopResult, or nothing for what is no such body.
template <class Body, class Argument>
auto result_of() {
  if constexpr (std::is_invocable_v<Body&, Argument>) {
    return std::type_identity<LoopResult<Body, Argument>>();
  } else {
    return std::type_identity<void>();
  }
}

template <class Body, class Argument>
using ResultOf = typename decltype(result_of<Body, Argument>())::type;

/// What a loop from a First to a Last returns.
template <class Body, class First, class Last>
using IndexResultOf =
    ResultOf<Body, ArgumentOf<std::remove_reference_t<Body>, IndexOf<First, Last>>>;

inline sorrel_loop_options to_c(const LoopOptions& options) {
  sorrel_loop_options result{};
  result.size = sizeof result;
  result.schedule = static_cast<sorrel_schedule>(options.schedule);
  result.grain = options.grain;
  result.threads_max = options.threads_max;
  return result;
}

template <class Body, class Index>
int run_part(void* argument, std::int64_t begin, std::int64_t end) {
  auto& frame = *static_cast<LoopFrame<Body>*>(argument);
  return frame.guard([&] {
    using Argument = ArgumentOf<Body, Index>;
    if constexpr (std::is_integral_v<Argument>) {
      const Index last = from_c<Index>(end);
      for (Index i = from_c<Index>(begin); i < last; ++i) {
        if (const int outcome = call(frame.body, Index(i)); outcome != 0) return outcome;
      }
      return 0;
    } else {
      using Number = decltype(Argument::lo);
      return call(frame.body, Argument{static_cast<Number>(from_c<Index>(begin)),
                                       static_cast<Number>(from_c<Index>(end))});
    }
  });
}

/// Whether all indices before `end` are numbers of a Part, which has 64 bits with a sign or is of
/// their type.
template <class Part, class Index>
void require_fit(Index end) {
  if constexpr (offset_of<Index> != 0 && std::same_as<Part, Range>)
    if (end > offset_of<Index>)
      refuse("a part of indices beyond 2^63 is a sorrel::BasicRange of their type");
}

/// Runs a loop over indices, whose body takes what it must.
template <class Index, class Body>
LoopControl run_loop(Index begin, Index end, Body& body, const LoopOptions& options) {
  require_fit<ArgumentOf<Body, Index>>(end);
  LoopFrame<Body> frame{body};
  const sorrel_loop_options c_options = to_c(options);
  const int outcome =
      sorrel_parallel_for(to_c(begin), to_c(end), run_part<Body, Index>, &frame, &c_options);
  if (outcome == 0) return LoopControl::go_on;
  frame.rethrow();
  if (outcome == SORREL_UNKNOWN_OPTION)
    refuse("the loaded library of Sorrel does not know an option of a loop");
  return LoopControl::cancel;
}

}  // namespace detail

/// A handle for the number of threads: as long as it exists, each loop that the calling thread or
/// rank starts uses at most so many threads; see sorrel_limit_threads(). Handles nest; the smallest
/// limit holds.
/// @code
/// sorrel::ThreadLimit two(2);
/// sorrel::parallel_for(0, n, body);  // on at most two threads
/// @endcode
class ThreadLimit {
 public:
  /// @param count maximum number of threads, the caller included; below 1 counts as 1
  explicit ThreadLimit(int count) : before_(sorrel_limit_threads(count < 1 ? 1 : count)) {
    if (before_ != 0 && before_ < count) sorrel_limit_threads(before_);
  }

  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

  /// The limit before this handle holds again. On the thread or rank that made the handle.
  ~ThreadLimit() { sorrel_limit_threads(before_); }

  /// @return the number of threads that a loop of the caller may use now, the caller included
  static int threads() { return sorrel_loop_threads(); }

 private:
  int before_;
};

/// Runs body(i) for begin <= i < end, or body(part) on parts that cover it, a BasicRange of the
/// indices or a Range. The type of the body's argument says which: a generic body, body(auto), does
/// not compile. Bodies do not wait for each other, because one thread may run all of them. May
/// suspend.
///
/// @param begin the first iteration
/// @param end one past the last iteration; the indices have the type of both, or 64 bits
/// @param body may run on several threads at once, and may throw
/// @param options schedule, grain and number of threads
/// @return nothing, or for a body that returns LoopControl whether it has cancelled the loop
/// @throws any one of the exceptions that bodies have thrown
template <std::integral First, std::integral Last, class Body>
detail::IndexResultOf<Body, First, Last> parallel_for(First begin,
                                                      Last end,
                                                      Body&& body,
                                                      const LoopOptions& options = {}) {
  using Plain = std::remove_reference_t<Body>;
  using Index = detail::IndexOf<First, Last>;
  constexpr bool says_what = detail::says_what<Plain, Index>();
  static_assert(says_what,
                "the body of parallel_for says whether it takes an index, body(std::int64_t), or a "
                "part, body(sorrel::Range); a generic one would take both");
  if constexpr (says_what) {
    constexpr bool is_body = !std::is_void_v<detail::ArgumentOf<Plain, Index>>;
    static_assert(is_body,
                  "the body of parallel_for takes an index, body(std::int64_t), or a part, "
                  "body(sorrel::Range)");
    if constexpr (is_body) {
      const LoopControl end_of_loop =
          detail::run_loop(static_cast<Index>(begin), static_cast<Index>(end), body, options);
      if constexpr (detail::may_cancel<Plain, detail::ArgumentOf<Plain, Index>>) return end_of_loop;
    }
  }
}

/// Runs body(value) for every value of a range, as of a container, a Range or a Box. May suspend.
///
/// @param range random access, of known size
/// @param body may run on several threads at once, and may throw
/// @param options schedule, grain in values, and number of threads
/// @return nothing, or for a body that returns LoopControl whether it has cancelled the loop
/// @throws any one of the exceptions that bodies have thrown
template <std::ranges::random_access_range Values, class Body>
  requires std::ranges::sized_range<Values> &&
           std::invocable<Body&, std::ranges::range_reference_t<Values>>
detail::ResultOf<Body, std::ranges::range_reference_t<Values>> parallel_for(
    Values&& range, Body&& body, const LoopOptions& options = {}) {
  const auto first = std::ranges::begin(range);
  const auto part_body = [&](Range part) {
    auto value = first + static_cast<std::ranges::range_difference_t<Values>>(part.lo);
    for (std::int64_t i = part.lo; i < part.hi; ++i, ++value)
      if (detail::call(body, *value) != 0) return LoopControl::cancel;
    return LoopControl::go_on;
  };
  const LoopControl end_of_loop = parallel_for(
      std::int64_t{0}, static_cast<std::int64_t>(std::ranges::size(range)), part_body, options);
  if constexpr (detail::may_cancel<Body, std::ranges::range_reference_t<Values>>)
    return end_of_loop;
}

/// Runs body(tile) for every tile of `blocked`. May suspend.
///
/// @param blocked the tiles
/// @param body may run on several threads at once, and may throw
/// @param options schedule, grain in tiles, and number of threads
/// @return nothing, or for a body that returns LoopControl whether it has cancelled the loop
/// @throws any one of the exceptions that bodies have thrown
template <std::size_t dimensions, class Body>
detail::ResultOf<Body, const Box<dimensions>&> parallel_for(const Blocked<dimensions>& blocked,
                                                            Body&& body,
                                                            const LoopOptions& options = {}) {
  constexpr bool is_body = std::is_invocable_v<Body&, const Box<dimensions>&>;
  static_assert(is_body,
                "the body of parallel_for over a Blocked takes a tile of as many dimensions, "
                "body(const sorrel::Box<dimensions>&)");
  if constexpr (is_body) {
    return parallel_for(
        std::int64_t{0}, blocked.count(),
        [&](std::int64_t index) { return body(blocked.tile(index)); }, options);
  }
}

/// Number of leaves of a reduction or a scan, for any number of threads.
inline constexpr std::int64_t reduce_leaf_count = 64;

namespace detail {

/// The parts of a reduction or a scan, which depend on the iterations alone.
template <class Part>
class Leaves {
 public:
  template <class First, class Last>
  Leaves(First begin, Last end)
      : lo_(to_c(static_cast<IndexOf<First, Last>>(begin))),
        size_(Range{lo_, to_c(static_cast<IndexOf<First, Last>>(end))}.size()),
        count_(size_ < reduce_leaf_count ? size_ : reduce_leaf_count),
        offset_(offset_of<IndexOf<First, Last>>) {
    require_fit<Part>(static_cast<IndexOf<First, Last>>(end));
  }

  std::int64_t count() const { return count_; }

  Part operator[](std::int64_t leaf) const {
    using Number = decltype(Part::lo);
    const std::int64_t quotient = size_ / count_;
    const std::int64_t rest = size_ % count_;
    const std::int64_t first = quotient * leaf + (leaf < rest ? leaf : rest);
    const std::uint64_t lo = static_cast<std::uint64_t>(lo_ + first) + offset_;
    return {static_cast<Number>(lo),
            static_cast<Number>(lo + static_cast<std::uint64_t>(quotient + (leaf < rest ? 1 : 0)))};
  }

 private:
  std::int64_t lo_;
  std::int64_t size_;
  std::int64_t count_;
  std::uint64_t offset_;
};

/// The part that the body of a reduction or a scan takes before its other arguments.
template <class Body, class Index, class... Others>
using LeafOf = std::conditional_t<std::is_invocable_v<Body&, BasicRange<Index>, Others...>,
                                  BasicRange<Index>,
                                  Range>;

/// A value for each leaf, or none; on the stack if they are small.
template <class Value>
class LeafValues {
 public:
  std::optional<Value>& operator[](std::int64_t leaf) {
    return values_[static_cast<std::size_t>(leaf)];
  }

 private:
  using Few = std::array<std::optional<Value>, reduce_leaf_count>;

  struct Many : std::vector<std::optional<Value>> {
    Many() : std::vector<std::optional<Value>>(reduce_leaf_count) {}
  };

  std::conditional_t<sizeof(Few) <= 16384, Few, Many> values_;
};

}  // namespace detail

/// Combines body(Range, identity) over parts that cover [begin, end), in order:
/// combine(combine(identity, first), second) and so on. Parts and order depend on begin and end
/// alone, so the result is the same to the last bit for any number of threads. May suspend.
///
/// @param begin the first iteration
/// @param end one past the last iteration; the indices have the type of both, or 64 bits
/// @param identity the neutral element of `combine`
/// @param body adds a part to a value, and returns it; a part is a Range, or a BasicRange of the
/// indices
/// @param combine adds two values
/// @param options schedule, grain and number of threads
/// @return `identity` for an empty range
/// @throws any one of the exceptions that `body` and `combine` have thrown
template <std::integral First, std::integral Last, class Value, class Body, class Combine>
Value parallel_reduce(First begin,
                      Last end,
                      const Value& identity,
                      Body&& body,
                      Combine&& combine,
                      const LoopOptions& options = {}) {
  using Part = detail::LeafOf<Body, detail::IndexOf<First, Last>, Value>;
  constexpr bool is_body = detail::returns_whole<Value, Body&, Part, Value>();
  constexpr bool is_combine = detail::returns_whole<Value, Combine&, Value, Value>();
  static_assert(is_body,
                "the body of parallel_reduce adds a part to a value, Value body(sorrel::Range, "
                "Value), where Value is the type of `identity`");
  static_assert(is_combine,
                "the last function of parallel_reduce combines two values, Value combine(Value, "
                "Value), where Value is the type of `identity`");
  Value result = identity;
  if constexpr (is_body && is_combine) {
    const detail::Leaves<Part> leaves(begin, end);
    detail::LeafValues<Value> values;
    parallel_for(
        std::int64_t{0}, leaves.count(),
        [&](std::int64_t leaf) { values[leaf].emplace(body(leaves[leaf], Value(identity))); },
        options);
    for (std::int64_t leaf = 0; leaf < leaves.count(); ++leaf)
      result = static_cast<Value>(combine(std::move(result), std::move(*values[leaf])));
  }
  return result;
}

/// Combines the values of a range in their order, and `identity` before them. Parts and order
/// depend on their number alone, so the result is the same to the last bit for any number of
/// threads. May suspend.
///
/// @param range random access, of known size
/// @param identity the neutral element of `combine`
/// @param combine adds two values
/// @param options schedule, grain and number of threads
/// @return `identity` for an empty range
/// @throws any one of the exceptions that `combine` has thrown
template <std::ranges::random_access_range Values, class Value, class Combine = std::plus<>>
  requires std::ranges::sized_range<Values>
Value parallel_reduce(Values&& range,
                      const Value& identity,
                      Combine combine = {},
                      const LoopOptions& options = {}) {
  using Element = std::ranges::range_reference_t<Values>;
  constexpr bool adds_element = detail::returns_whole<Value, Combine&, Value, Element>();
  static_assert(adds_element,
                "the function of parallel_reduce over a range combines a value with an element, "
                "Value combine(Value, element), where Value is the type of `identity`");
  if constexpr (adds_element) {
    const auto first = std::ranges::begin(range);
    const auto body = [&](Range part, Value sum) {
      auto element = first + static_cast<std::ranges::range_difference_t<Values>>(part.lo);
      for (std::int64_t i = part.lo; i < part.hi; ++i, ++element)
        sum = static_cast<Value>(combine(std::move(sum), *element));
      return sum;
    };
    return parallel_reduce(std::int64_t{0}, static_cast<std::int64_t>(std::ranges::size(range)),
                           identity, body, combine, options);
  } else {
    return identity;
  }
}

/// Scans [begin, end): each part of it gets the combination of all iterations before it. Calls
/// body(part, before, is_last) twice for each part but the last one: first with the identity, to
/// learn what the part adds, and then with the value of all parts before it and `is_last` true, to
/// write results. Parts and order depend on begin and end alone, so the results are the same to the
/// last bit for any number of threads. May suspend.
///
/// @param begin the first iteration
/// @param end one past the last iteration; the indices have the type of both, or 64 bits
/// @param identity the neutral element of `combine`
/// @param body adds a part to a value, and returns it; a part is a Range, or a BasicRange of the
/// indices
/// @param combine adds two values
/// @param options schedule, grain and number of threads
/// @return the combination of all iterations; `identity` for an empty range
/// @throws any one of the exceptions that `body` and `combine` have thrown
template <std::integral First, std::integral Last, class Value, class Body, class Combine>
Value parallel_scan(First begin,
                    Last end,
                    const Value& identity,
                    Body&& body,
                    Combine&& combine,
                    const LoopOptions& options = {}) {
  using Part = detail::LeafOf<Body, detail::IndexOf<First, Last>, Value, bool>;
  constexpr bool is_body = detail::returns_whole<Value, Body&, Part, Value, bool>();
  constexpr bool is_combine = detail::returns_whole<Value, Combine&, Value, Value>();
  static_assert(is_body,
                "the body of parallel_scan adds a part to a value, Value body(sorrel::Range, "
                "Value, bool is_last), where Value is the type of `identity`");
  static_assert(is_combine,
                "the last function of parallel_scan combines two values, Value combine(Value, "
                "Value), where Value is the type of `identity`");
  Value result = identity;
  if constexpr (is_body && is_combine) {
    const detail::Leaves<Part> leaves(begin, end);
    const std::int64_t last = leaves.count() - 1;
    if (last < 0) return result;
    detail::LeafValues<Value> before;
    const auto value_before = [&](std::int64_t leaf) -> std::optional<Value>& {
      return before[leaf];
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

/// A scan of values; `first` is the value before the first one, or none. Writes what is before each
/// value, or with `is_inclusive` also the value itself.
template <bool is_inclusive, class Value, class In, class Out, class Combine>
Out scan_values(In first,
                In last,
                Out out,
                const std::optional<Value>& initial,
                Combine& combine,
                const LoopOptions& options) {
  static_assert(std::random_access_iterator<In> && std::random_access_iterator<Out>,
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
  parallel_scan(std::int64_t{0}, count, Sum(), body, add, options);
  return out + static_cast<std::iter_difference_t<Out>>(count);
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
  using Value = std::iter_value_t<In>;
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

/// parallel_inclusive_scan() of all values of a range. May suspend.
///
/// @param range random access, of known size
/// @param out the first result; may be the begin of the range
/// @param combine adds two values; associative
/// @param options schedule, grain and number of threads
/// @return one past the last result
/// @throws any one of the exceptions that `combine` has thrown
template <std::ranges::random_access_range Values,
          std::random_access_iterator Out,
          class Combine = std::plus<>>
  requires std::ranges::sized_range<Values>
Out parallel_inclusive_scan(Values&& range,
                            Out out,
                            Combine combine = {},
                            const LoopOptions& options = {}) {
  const auto first = std::ranges::begin(range);
  return parallel_inclusive_scan(first, first + std::ranges::distance(range), out,
                                 std::move(combine), options);
}

/// parallel_exclusive_scan() of all values of a range. May suspend.
///
/// @param range random access, of known size
/// @param out the first result; may be the begin of the range
/// @param initial the first result
/// @param combine adds two values; associative
/// @param options schedule, grain and number of threads
/// @return one past the last result
/// @throws any one of the exceptions that `combine` has thrown
template <std::ranges::random_access_range Values,
          std::random_access_iterator Out,
          class Value,
          class Combine = std::plus<>>
  requires std::ranges::sized_range<Values>
Out parallel_exclusive_scan(
    Values&& range, Out out, Value initial, Combine combine = {}, const LoopOptions& options = {}) {
  const auto first = std::ranges::begin(range);
  return parallel_exclusive_scan(first, first + std::ranges::distance(range), out,
                                 std::move(initial), std::move(combine), options);
}

namespace detail {

/// Merge sort in rounds. The values move to a buffer, are sorted there in runs, and are merged to
/// and fro; the number of rounds is odd, so they end where they were.
template <class Iterator, class Compare>
class MergeSort {
  using Value = std::iter_value_t<Iterator>;
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
    // A comparison that is no order, as of NaN, finds splits that contradict each other. Pieces
    // between splits that ascend are disjoint, whatever it says.
    for (std::size_t piece = 1; piece < splits.size(); ++piece) {
      const std::int64_t begin = static_cast<std::int64_t>(piece) * piece_size;
      const std::int64_t before = splits[piece - 1];
      if (begin != pair_of(begin)[0])
        splits[piece] = std::clamp(splits[piece], before, before + piece_size);
    }
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
  using Value = std::iter_value_t<Iterator>;
  constexpr bool is_compare = std::is_invocable_r_v<bool, Compare&, const Value&, const Value&>;
  static_assert(std::random_access_iterator<Iterator>,
                "parallel_sort needs random access iterators");
  static_assert(is_compare,
                "the comparison of parallel_sort takes two values, bool compare(const Value&, "
                "const Value&)");
  if constexpr (std::random_access_iterator<Iterator> && is_compare) {
    using Sort = detail::MergeSort<Iterator, Compare>;
    const auto count = static_cast<std::int64_t>(last - first);
    if (!Sort::is_worthwhile(count)) {
      std::stable_sort(first, last, compare);
    } else {
      Sort(first, count, compare, options).run();
    }
  }
}

/// parallel_sort() of all values of a range. May suspend.
///
/// @param range random access, of known size, with moves that do not throw
/// @param compare whether a value comes before another one; may run on several threads at once
/// @param options the number of threads; schedule and grain are ignored
/// @throws any one of the exceptions that `compare` has thrown; the values are then unspecified
template <std::ranges::random_access_range Values, class Compare = std::less<>>
  requires std::ranges::sized_range<Values>
void parallel_sort(Values&& range, Compare compare = {}, const LoopOptions& options = {}) {
  const auto first = std::ranges::begin(range);
  parallel_sort(first, first + std::ranges::distance(range), std::move(compare), options);
}

}  // namespace sorrel
