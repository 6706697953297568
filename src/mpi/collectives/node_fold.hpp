//! NodeFold - combines the vectors of the members that a worker runs, or the totals of several
//! workers.
//!
//! The totals are those of the fewest nodes of the communicator's RankTree, so their bits do not
//! depend on the workers. A worker reads the vectors of its own members, and mostly one total of
//! each child of its barrier node: few bytes go from one core to another. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/collectives/tree_fold.hpp"
#include "mpi/comm/rank_tree.hpp"

namespace sorrel::mpi {

class NodeFold {
 public:
  /// A total of one member: its own vector, or a copy.
  enum class Alone : bool { as_it_is, copied };

  /// A fold of members, which ascend.
  NodeFold(std::int32_t rank_count, const std::vector<std::int32_t>& members, Alone alone);

  /// A fold of what others have combined. They outlive it.
  NodeFold(std::int32_t rank_count, const std::vector<const NodeFold*>& others);

  /// `operands` has each member's vector. The others have combined theirs.
  void fold(const ReductionArguments& arguments, const void* const* operands);

  /// Valid until the next fold(), as are the operands and the others' totals: a total may be one
  /// of them, unless it is copied.
  [[nodiscard]] std::span<const PartialTotal> totals() const { return totals_; }

 private:
  /// What is combined: the vector of a member, or a total of another one.
  struct Part {
    RankTree::Node node;
    const NodeFold* other;
    std::size_t index;
  };

  void plan();
  void make_room(std::size_t bytes);

  RankTree tree_;
  Alone alone_ = Alone::as_it_is;
  std::vector<Part> parts_;
  /// For each total, the end of its parts.
  std::vector<std::size_t> ends_;
  std::vector<PartialTotal> totals_;
  /// The parts with their elements, in fold().
  std::vector<PartialTotal> operands_;
  std::unique_ptr<std::byte[]> room_;
  std::size_t room_bytes_ = 0;
};

}  // namespace sorrel::mpi
