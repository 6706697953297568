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

void combine(const ReductionArguments& arguments,
             const void* left,
             const void* right,
             void* result,
             std::size_t count) {
  if (arguments.kernel != nullptr) return arguments.kernel(left, right, result, count);
  if (right != result) copy_elements(right, result, count, arguments.type);
  RankState& self = *current_rank();
  const char* call = self.fiber.call;
  const void* call_site = self.fiber.call_site;
  reduce(arguments.op, left, result, count, arguments.type);
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

}  // namespace sorrel::mpi
