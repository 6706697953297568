//! TreeFold - combines totals of the nodes of a RankTree into that of the node which they make up.
//!
//! The left child of a node is the left operand, so the ranks stay in order for operations that do
//! not commute. Operands are never written; those of a user's operation, which leaves its result in
//! its right operand, are copied for that.
#pragma once

#include <span>
#include <vector>

#include "mpi/collectives/reduction.hpp"
#include "mpi/comm/rank_tree.hpp"

namespace sorrel::mpi {

/// The total of the ranks of a node, for the elements from `first` on.
struct PartialTotal {
  RankTree::Node node;
  const void* elements;
  std::size_t first = 0;
};

class TreeFold {
 public:
  TreeFold(const RankTree& tree, const ReductionArguments& arguments)
      : tree_(tree), arguments_(arguments), chunk_(chunk_element_count(arguments.type)) {}

  /// `totals` ascend and make up one node, whose total of the given elements is left in `into`,
  /// from element 0 on.
  void fold(std::span<const PartialTotal> totals, ElementRange range, void* into);

 private:
  void fold_chunk(std::span<const PartialTotal> totals, ElementRange range, void* into);

  const RankTree& tree_;
  const ReductionArguments& arguments_;
  /// Elements folded at a time: operands and totals stay in the first-level cache.
  std::size_t chunk_;
  /// For combined totals of right children that wait for their siblings, but for the first one.
  std::vector<Scratch> scratch_;
};

}  // namespace sorrel::mpi
