//! BarrierTree - the tree of a barrier over processes: contributions go up to the *roots*, the
//! result comes down.
//!
//! Over several nodes the roots are the node leaders, each above the processes of its node, so that
//! one message each way passes between nodes. On one node every process is a root. Few roots send
//! to each other directly; many form a tree of their own. Computed from the map at each call; pure.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/comm/process_map.hpp"

namespace sorrel::mpi {

class BarrierTree {
 public:
  /// Up to this number every root sends to every other root: one message delay instead of two.
  static constexpr std::int32_t direct_root_count_max = 4;
  /// Bound on the children of a parent, for its node and for other nodes each.
  static constexpr std::int32_t fan_out = 8;

  explicit BarrierTree(const ProcessMap& processes);

  /// The processes that send contributions to `index` and get its result. Ascending within a node.
  [[nodiscard]] std::vector<std::int32_t> children_of(std::int32_t index) const;

  /// The process to which `index` contributes, and which sends it the result; -1: none.
  [[nodiscard]] std::int32_t parent_of(std::int32_t index) const;

  /// Roots that exchange contributions with `index` directly.
  [[nodiscard]] std::vector<std::int32_t> peers_of(std::int32_t index) const;

 private:
  struct Spot {
    std::int32_t root;
    std::int32_t position;  ///< Among the processes of its node; 0 = the root itself.
  };

  [[nodiscard]] Spot spot_of(std::int32_t index) const;

  [[nodiscard]] bool is_direct() const { return root_count_ <= direct_root_count_max; }

  [[nodiscard]] std::int32_t process_of_root(std::int32_t root) const {
    return is_flat_ ? root : processes_.node_leader(root);
  }

  const ProcessMap& processes_;
  /// One node: every process is a root.
  const bool is_flat_;
  const std::int32_t root_count_;
};

}  // namespace sorrel::mpi
