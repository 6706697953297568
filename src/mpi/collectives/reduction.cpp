#include "mpi/collectives/reduction.hpp"

#include <algorithm>

#include "mpi/datatype/copy.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::size_t chunk_bytes = 8192;

}  // namespace

Scratch::Scratch(std::size_t count, const Datatype& type) {
  const auto stride =
      static_cast<std::size_t>(std::max<std::int64_t>(type.extent(), -type.extent()));
  const auto spread = count == 0 ? 0 : (count - 1) * stride;
  // A kernel may write a whole element of the C type, padding included (MPI_LONG_DOUBLE_INT).
  const auto last = std::max(stride, static_cast<std::size_t>(type.true_extent()));
  bytes_ = std::make_unique_for_overwrite<std::byte[]>(spread + last + 1);
  base_ = bytes_.get() - type.true_lb() + (type.extent() < 0 ? spread : 0);
}

void* element_at(const void* buffer, std::size_t index, const Datatype& type) {
  const auto offset = static_cast<std::int64_t>(index) * type.extent();
  return const_cast<std::byte*>(static_cast<const std::byte*>(buffer)) + offset;
}

void copy_elements(const void* from, void* to, std::size_t count, const Datatype& type) {
  copy(from, count, type, to, count, type);
}

void combine(const ReductionArguments& arguments, const void* in, void* inout, std::size_t count) {
  if (arguments.op.is_predefined()) return reduce(arguments.op, in, inout, count, arguments.type);
  RankState& self = *current_rank();
  const char* call = self.fiber.call;
  const void* call_site = self.fiber.call_site;
  reduce(arguments.op, in, inout, count, arguments.type);
  self.fiber.call = call;
  self.fiber.call_site = call_site;
}

std::size_t chunk_element_count(const Datatype& type) {
  return std::max<std::size_t>(chunk_bytes / std::max<std::size_t>(type.size(), 1), 1);
}

ElementRange even_part(std::size_t count, std::int32_t index, std::int32_t parts) {
  const auto bound = [&](std::int32_t i) {
    return static_cast<std::size_t>(static_cast<unsigned __int128>(count) *
                                    static_cast<std::size_t>(i) / static_cast<std::size_t>(parts));
  };
  return {.first = bound(index), .count = bound(index + 1) - bound(index)};
}

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
