#include "mpi/collectives/small_reduction.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace sorrel::mpi {

void fold_block(BarrierNode& barrier_node, std::int32_t block, std::int32_t member_count) {
  const SmallReduction& reduction = barrier_node.reduction;
  const std::int32_t first = block * block_rank_count;
  const std::int32_t last = std::min(first + block_rank_count, member_count);
  SORREL_ASSERT(first < last && reduction.kernel != nullptr);
  std::byte* const values = value_of(barrier_node, reduction.bytes, first);
  alignas(16) std::array<std::byte, small_reduction_bytes_max> total;
  std::memcpy(total.data(), values, reduction.bytes);
  std::byte* value = values;
  for (std::int32_t rank = first + 1; rank < last; ++rank) {
    value += reduction.bytes;
    // The predefined operations commute bit for bit, so the running total may be on either side.
    reduction.kernel(value, total.data(), total.data(), reduction.element_count);
  }
  std::memcpy(values, total.data(), reduction.bytes);
}

void combine_blocks(BarrierNode& root, std::int32_t member_count) {
  const SmallReduction& reduction = root.reduction;
  std::memcpy(root.result.data(), value_of(root, reduction.bytes, 0), reduction.bytes);
  for (std::int32_t block = 1; block < block_count(member_count); ++block) {
    reduction.kernel(value_of(root, reduction.bytes, block * block_rank_count), root.result.data(),
                     root.result.data(), reduction.element_count);
  }
}

}  // namespace sorrel::mpi
