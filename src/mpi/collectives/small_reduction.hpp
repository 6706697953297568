//! SmallReduction - how the operands of a short reduction are combined in the barrier nodes: left
//! to right within blocks of ranks, then the blocks from left to right.
//!
//! The order depends on the number of members alone. Inlined into the steps of a barrier.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "mpi/collectives/barrier_node.hpp"

namespace sorrel::mpi {

/// Ranks folded one after the other before their results are: few enough to spread over workers,
/// and so many that the second level is short. It decides the order of a reduction, so it is not
/// configurable.
inline constexpr std::int32_t block_rank_count = 64;

[[nodiscard]] inline std::int32_t block_count(std::int32_t member_count) {
  return (member_count + block_rank_count - 1) / block_rank_count;
}

/// The operand that a node has under a rank's number.
[[nodiscard]] inline std::byte* value_of(const BarrierNode& barrier_node,
                                         std::size_t bytes,
                                         std::int32_t rank) {
  SORREL_ASSERT(rank >= 0 && bytes <= small_reduction_bytes_max);
  return barrier_node.values + static_cast<std::size_t>(rank) * bytes;
}

/// Folds the operands of a block into that of its first rank.
void fold_block(BarrierNode& barrier_node, std::int32_t block, std::int32_t member_count);

/// Combines the results of all blocks into that of the node.
void combine_blocks(BarrierNode& root, std::int32_t member_count);

}  // namespace sorrel::mpi
