//! BarrierNodes - the barrier nodes of a communicator in this process: one for each worker that
//! runs members, as a pair or as a tree, and the blocks of ranks that each of them can combine.
//!
//! Made for the workers where the members are, and made anew when members have changed their
//! worker. Constant meanwhile, but for what each node counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/line_pair.hpp"
#include "mpi/base/rank_layout.hpp"
#include "mpi/collectives/barrier_node.hpp"

namespace sorrel::mpi {

class Group;
class ProcessMap;
class World;

/// The members of a communicator, and where they are.
struct BarrierMembers {
  World& world;
  /// The communicator's group.
  const Group& group;
  /// Null for members of one process.
  const ProcessMap* processes = nullptr;

  /// Where a member is now.
  [[nodiscard]] Endpoint endpoint_of(std::int32_t rank) const;

  /// The members that a worker of this process runs, ascending.
  [[nodiscard]] std::vector<std::int32_t> on(const core::Worker& worker) const;
};

class BarrierNodes {
 public:
  /// No nodes: for a communicator of one member.
  BarrierNodes() = default;

  BarrierNodes(CollectiveSlots& slots, const BarrierMembers& members);

  /// Members in this process.
  [[nodiscard]] std::uint32_t member_count() const { return member_count_; }

  /// The root of the tree, or the first node of a pair.
  [[nodiscard]] BarrierNode& root() const { return *nodes_.front(); }

  [[nodiscard]] const std::vector<std::unique_ptr<BarrierNode>>& all() const { return nodes_; }

  /// The node of a worker that runs members.
  [[nodiscard]] BarrierNode& of(const core::Worker& worker) const;

  /// All members are in this process, and most workers have consecutive ones: few nodes of the tree
  /// make up the total of a worker.
  [[nodiscard]] bool has_few_runs() const { return has_few_runs_; }

  /// Blocks of members of this process on several workers: folded by the root.
  [[nodiscard]] const std::vector<std::int32_t>& shared_blocks() const { return shared_blocks_; }

  /// Blocks of members of several processes: folded when all values have arrived.
  [[nodiscard]] const std::vector<std::int32_t>& spread_blocks() const { return spread_blocks_; }

 private:
  void make_nodes(CollectiveSlots& slots, const BarrierMembers& members);
  void assign_blocks(const BarrierMembers& members);
  void make_pair(const BarrierMembers& members);
  [[nodiscard]] std::vector<std::int32_t> operand_ranks_of(const BarrierNode& barrier_node,
                                                           const BarrierMembers& members) const;
  void assign_values(std::int32_t rank_count);

  std::vector<std::unique_ptr<BarrierNode>> nodes_;
  std::uint32_t member_count_ = 0;
  bool has_few_runs_ = false;
  std::vector<std::int32_t> shared_blocks_;
  std::vector<std::int32_t> spread_blocks_;
  /// Operands of all nodes, or of each one of a pair.
  std::unique_ptr<LinePair[]> values_;
};

}  // namespace sorrel::mpi
