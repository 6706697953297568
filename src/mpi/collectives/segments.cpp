#include "mpi/collectives/segments.hpp"

#include <algorithm>

namespace sorrel::mpi {

Segments::Segments(const CollectiveSlots& slots,
                   const ReductionArguments& arguments,
                   std::int32_t member_count)
    : element_count_(arguments.count), member_count_(member_count) {
  // Below this a segment costs more to assign than to compute.
  const std::size_t bytes_min = std::max<std::size_t>(slots.limit(Limit::reduce_segment), 1);
  const std::size_t by_size = element_count_ * arguments.type.size() / bytes_min;
  const std::size_t most = std::min(element_count_, static_cast<std::size_t>(member_count));
  count_ = static_cast<std::int32_t>(
      std::clamp<std::size_t>(by_size, 1, std::max<std::size_t>(most, 1)));
}

std::int32_t Segments::member_of(std::int32_t segment) const {
  return static_cast<std::int32_t>(std::int64_t{segment} * member_count_ / count_);
}

std::int32_t Segments::segment_of(std::int32_t member) const {
  const auto candidate = static_cast<std::int32_t>(
      (std::int64_t{member} * count_ + member_count_ - 1) / member_count_);
  return candidate < count_ && member_of(candidate) == member ? candidate : -1;
}

ElementRange Segments::range_of(std::int32_t segment) const {
  SORREL_ASSERT(segment >= 0 && segment < count_);
  return even_part(element_count_, segment, count_);
}

std::int32_t Segments::segment_with(std::size_t element) const {
  std::int32_t found = 0;
  std::int32_t end = count_;
  while (end - found > 1) {
    const std::int32_t middle = found + (end - found) / 2;
    (range_of(middle).first <= element ? found : end) = middle;
  }
  return found;
}

}  // namespace sorrel::mpi
