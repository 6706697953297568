/// @file
/// Parallel loops and reductions in C++17, over sorrel.h, whose rules apply here too.
///
///   sorrel::parallel_for(0, n, [&](std::int64_t i) { y[i] += a * x[i]; });
///   sorrel::parallel_for(0, n, [&](sorrel::Range part) { ... });
///   sorrel::parallel_for(sorrel::Blocked<2>({{{0, rows}, {0, columns}}}, {64, 64}),
///                        [&](const sorrel::Tile<2>& tile) { ... });
///   double sum = sorrel::parallel_reduce(0, n, 0.0,
///       [&](sorrel::Range part, double sum) { for (...) sum += x[i]; return sum; },
///       std::plus<>());
///
/// A body may throw: chunks that have not begun are skipped, and the loop rethrows one of the
/// exceptions. A body that returns sorrel::LoopControl may cancel its loop.
#ifndef SORREL_PARALLEL_HPP
#define SORREL_PARALLEL_HPP

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "../sorrel.h"
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

/// Runs body(i) for begin <= i < end, or body(Range) on parts that cover it. May suspend.
///
/// @param begin the first iteration
/// @param end the one after the last
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
  detail::LoopFrame<Plain> frame{body};
  const sorrel_loop_options c_options = detail::to_c(options);
  const int outcome = sorrel_parallel_for(begin, end, detail::run_part<Plain>, &frame, &c_options);
  if (outcome == 0) return true;
  frame.rethrow();
  return false;
}

/// Runs body(tile) for every tile of `blocked`. May suspend.
///
/// @return false if the loop was cancelled
template <std::size_t dimensions, class Body>
bool parallel_for(const Blocked<dimensions>& blocked,
                  Body&& body,
                  const LoopOptions& options = {}) {
  return parallel_for(
      0, blocked.count(), [&](std::int64_t index) { return body(blocked.tile(index)); }, options);
}

/// Number of leaves of a reduction, for any number of threads.
inline constexpr std::int64_t reduce_leaf_count = 64;

/// Combines body(Range, identity) over parts that cover [begin, end), in order:
/// combine(combine(identity, first), second) and so on. Parts and order depend on begin and end
/// alone, so the result is the same to the last bit for any number of threads. May suspend.
///
/// @param begin the first iteration
/// @param end the one after the last
/// @param identity the neutral element of `combine`
/// @param body adds a part to a value, and returns it
/// @param combine adds two values
/// @param options schedule, grain and number of threads
/// @return `identity` for an empty range
template <class Value, class Body, class Combine>
Value parallel_reduce(std::int64_t begin,
                      std::int64_t end,
                      const Value& identity,
                      Body&& body,
                      Combine&& combine,
                      const LoopOptions& options = {}) {
  const std::int64_t size = Range{begin, end}.size();
  const std::int64_t leaf_count = size < reduce_leaf_count ? size : reduce_leaf_count;
  std::array<std::optional<Value>, reduce_leaf_count> leaves;
  parallel_for(
      0, leaf_count,
      [&](std::int64_t leaf) {
        const std::int64_t quotient = size / leaf_count;
        const std::int64_t rest = size % leaf_count;
        const std::int64_t first = begin + quotient * leaf + (leaf < rest ? leaf : rest);
        const Range part{first, first + quotient + (leaf < rest ? 1 : 0)};
        leaves[static_cast<std::size_t>(leaf)].emplace(body(part, Value(identity)));
      },
      options);
  Value result = identity;
  for (std::int64_t leaf = 0; leaf < leaf_count; ++leaf)
    result = combine(std::move(result), std::move(*leaves[static_cast<std::size_t>(leaf)]));
  return result;
}

}  // namespace sorrel

#endif
