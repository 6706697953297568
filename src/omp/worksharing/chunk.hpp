//! Which iterations of a loop a thread gets next, by schedule. Pure: numbers in, numbers out.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sorrel::omp {

struct Chunk {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool empty() const { return begin >= end; }

  bool operator==(const Chunk&) const = default;
};

/// Thread `thread`'s chunk number `index` of `trip_count` iterations dealt to `thread_count`
/// threads before the loop; chunk 0: one block each, sizes differing by at most one.
constexpr Chunk fixed_chunk(std::uint64_t trip_count,
                            std::uint64_t chunk,
                            std::uint64_t index,
                            std::uint32_t thread,
                            std::uint32_t thread_count) {
  if (chunk == 0) {
    if (index != 0) return {trip_count, trip_count};
    const std::uint64_t each = trip_count / thread_count;
    const std::uint64_t rest = trip_count % thread_count;
    const std::uint64_t begin = each * thread + std::min<std::uint64_t>(thread, rest);
    return {begin, begin + each + (thread < rest ? 1 : 0)};
  }
  const std::uint64_t number = index * thread_count + thread;
  if (number > trip_count / chunk) return {trip_count, trip_count};
  const std::uint64_t begin = number * chunk;
  return {begin, std::min(trip_count, begin + std::min(chunk, trip_count - begin))};
}

/// How many iterations the next guided chunk has when `left` are left.
constexpr std::uint64_t guided_size(std::uint64_t left,
                                    std::uint64_t chunk,
                                    std::uint32_t thread_count) {
  const std::uint64_t share = left / thread_count + (left % thread_count != 0 ? 1 : 0);
  return std::min(left, std::max(share, std::max<std::uint64_t>(chunk, 1)));
}

/// Iterations of for (i = start; i < end; i += step), or i > end for a negative step.
constexpr std::uint64_t trip_count(std::int64_t start, std::int64_t end, std::int64_t step) {
  const auto first = static_cast<std::uint64_t>(start);
  const auto last = static_cast<std::uint64_t>(end);
  if (step > 0) {
    const auto by = static_cast<std::uint64_t>(step);
    return start >= end ? 0 : (last - first - 1) / by + 1;
  }
  const std::uint64_t by = 0 - static_cast<std::uint64_t>(step);
  return start <= end ? 0 : (first - last - 1) / by + 1;
}

/// trip_count() for unsigned long long; `is_up` tells the direction.
constexpr std::uint64_t trip_count_unsigned(bool is_up,
                                            std::uint64_t start,
                                            std::uint64_t end,
                                            std::uint64_t step) {
  if (is_up) return start >= end ? 0 : (end - start - 1) / step + 1;
  return start <= end ? 0 : (start - end - 1) / (0 - step) + 1;
}

}  // namespace sorrel::omp
