//! MeetingTree - who tells whom in a meeting of processes: everybody's word goes up, to the *tops*,
//! and what comes of it down again.
//!
//! Over several nodes the tops are the nodes' speakers, each with the processes of its node in a
//! tree below it, so that between nodes goes one word each way. On one node every process is a top.
//! Few tops tell each other directly; many form a tree of their own. Computed from the map when
//! asked; pure.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/process_map.hpp"

namespace sorrel::mpi {

class MeetingTree {
 public:
  /// Up to here every top tells every other: one way instead of up and down.
  static constexpr std::int32_t direct_top_count_max = 4;
  /// A parent hears this many children, of its node and of other nodes each.
  static constexpr std::int32_t fan_out = 8;

  explicit MeetingTree(const ProcessMap& processes);

  /// Who tells `index`, and is told by it what came of it. Ascending within a node.
  [[nodiscard]] std::vector<std::int32_t> children_of(std::int32_t index) const;

  /// Whom `index` tells, and hears from; -1: nobody.
  [[nodiscard]] std::int32_t parent_of(std::int32_t index) const;

  /// Tops that `index` tells, and hears from, directly.
  [[nodiscard]] std::vector<std::int32_t> peers_of(std::int32_t index) const;

 private:
  struct Spot {
    std::int32_t top;
    std::int32_t place;  ///< Among the processes of its node; 0 = the top itself.
  };

  [[nodiscard]] Spot spot_of(std::int32_t index) const;

  [[nodiscard]] bool is_direct() const { return top_count_ <= direct_top_count_max; }

  [[nodiscard]] std::int32_t process_of_top(std::int32_t top) const {
    return is_flat_ ? top : processes_.speaker(top);
  }

  const ProcessMap& processes_;
  /// One node: every process is a top.
  const bool is_flat_;
  const std::int32_t top_count_;
};

}  // namespace sorrel::mpi
