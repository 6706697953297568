#include "loop/split/chunk_plan.hpp"

#include <algorithm>
#include <limits>

namespace sorrel::loop {

namespace {

/// Divisors of an equal share: smallest chunk without a measurement, largest measured grain.
constexpr std::int64_t unknown_part = 32;
constexpr std::int64_t largest_part = 3;

std::int64_t quotient_up(std::int64_t value, std::int64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

/// The `index`-th of `count` nearly equal parts of `length`: the first ones are longer by one.
Iterations equal_part(std::int64_t length, std::int64_t count, std::int64_t index) {
  const std::int64_t size = length / count;
  const std::int64_t longer_count = length % count;
  const std::int64_t begin = size * index + std::min(index, longer_count);
  return {begin, begin + size + (index < longer_count ? 1 : 0)};
}

}  // namespace

ChunkPlan::ChunkPlan(Iterations iterations, const SplitOptions& options)
    : begin_(iterations.begin), length_(iterations.count()) {
  SORREL_ASSERT(options.width >= 1 && options.grain >= 0);
  if (length_ == 0) return;
  width_ = options.width;
  part_size_ = static_cast<std::int32_t>(
      std::clamp<std::int64_t>(options.grain, 1, std::numeric_limits<std::int32_t>::max()));
  switch (options.schedule) {
    case Schedule::automatic:
      may_be_cut_ = true;
      plan_decreasing(std::max(options.grain, grain_of(options.tuned_grain)));
      break;
    case Schedule::fixed:
      may_be_cut_ = options.grain == 0;
      if (options.grain == 0) {
        plan_equal();
      } else {
        plan_grained(options.grain);
      }
      break;
    case Schedule::dynamic:
      plan_grained(options.grain);
      break;
    case Schedule::guided:
      may_be_cut_ = true;
      plan_decreasing(options.grain);
      break;
  }
}

std::int64_t ChunkPlan::grain_of(std::int64_t tuned_grain) const {
  return tuned_grain == 0 ? length_ / (unknown_part * width_)
                          : std::min(tuned_grain, length_ / (largest_part * width_));
}

void ChunkPlan::plan_equal() {
  count_ = static_cast<std::int32_t>(std::min<std::int64_t>(width_, length_));
}

void ChunkPlan::plan_grained(std::int64_t grain) {
  grain_ = std::max({grain, std::int64_t{1}, quotient_up(length_, chunk_count_max)});
  count_ = static_cast<std::int32_t>(quotient_up(length_, grain_));
}

void ChunkPlan::plan_decreasing(std::int64_t grain) {
  if (width_ == 1) {
    // No other thread takes part.
    count_ = 1;
    return;
  }
  grain_ = std::max({grain, std::int64_t{1}, quotient_up(2 * length_, chunk_count_max)});
  is_decreasing_ = true;
  const std::int64_t share = length_ / width_;
  caller_rounds_ = static_cast<std::int8_t>(round_count(share, 1));
  helper_rounds_ = static_cast<std::int8_t>(round_count(length_ - share, width_ - 1));
  count_ = end_of(share, 1, caller_rounds_).count +
           end_of(length_ - share, width_ - 1, helper_rounds_).count;
}

/// Number of rounds whose chunks are larger than the grain.
std::int32_t ChunkPlan::round_count(std::int64_t length, std::int32_t width) const {
  std::int32_t rounds = 0;
  while ((length >> rounds) / 2 / width > grain_)
    ++rounds;
  return rounds;
}

ChunkPlan::End ChunkPlan::end_of(std::int64_t length,
                                 std::int32_t width,
                                 std::int32_t rounds) const {
  const auto rest_count = static_cast<std::int32_t>(quotient_up(length >> rounds, grain_));
  return {length, width, rounds, rounds * width + rest_count};
}

Iterations ChunkPlan::chunk_from_end(const End& end, std::int32_t index) const {
  const std::int32_t in_rounds = end.rounds * end.width;
  if (index >= in_rounds) {
    const std::int64_t first =
        end.length - (end.length >> end.rounds) + (index - in_rounds) * grain_;
    return {first, std::min(first + grain_, end.length)};
  }
  const std::int32_t round = index / end.width;
  const std::int64_t first = end.length - (end.length >> round);
  const std::int64_t size = (end.length >> round) - (end.length >> (round + 1));
  const Iterations part = equal_part(size, end.width, index % end.width);
  return {first + part.begin, first + part.end};
}

Iterations ChunkPlan::chunk(std::int32_t index) const {
  SORREL_ASSERT(index >= 0 && index < count_);
  if (is_decreasing_) {
    const std::int64_t share = length_ / width_;
    const End caller = end_of(share, 1, caller_rounds_);
    if (index < caller.count) {
      const Iterations part = chunk_from_end(caller, index);
      return {begin_ + part.begin, begin_ + part.end};
    }
    // Counted from the far end.
    const End helpers = end_of(length_ - share, width_ - 1, helper_rounds_);
    const Iterations part = chunk_from_end(helpers, count_ - 1 - index);
    return {begin_ + length_ - part.end, begin_ + length_ - part.begin};
  }
  if (grain_ == 0) {
    const Iterations part = equal_part(length_, count_, index);
    return {begin_ + part.begin, begin_ + part.end};
  }
  const std::int64_t first = begin_ + index * grain_;
  return {first, std::min(first + grain_, begin_ + length_)};
}

}  // namespace sorrel::loop
