//! NodeTorus - the nodes of a job on a torus or mesh, and the hops between neighbours of a cut.
//!
//! Pure. Consecutive ranks fill a node, consecutive nodes the last dimension of the torus first.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include <sorrel/grid/plan.hpp>
#include <sorrel/result.hpp>

namespace sorrel::grid {

class NodeTorus {
 public:
  /// @return success, or the error if the torus has too few nodes for the job
  [[nodiscard]] static Result<void> check(const Torus& torus, int node_count);

  /// For a torus that check() allows, and nodes of `node_ranks` ranks.
  NodeTorus(const Torus& torus, int node_count, int node_ranks);

  [[nodiscard]] const std::vector<int>& extents() const { return extents_; }

  /// Numbers of consecutive ranks that fill whole dimensions of the torus, but not all: bricks of
  /// these sizes keep neighbours near.
  [[nodiscard]] std::vector<int> brick_sizes() const;

  /// The hops between the neighbours in each dimension. Neighbours on one node do not count.
  [[nodiscard]] PerDimension<Hops> hops_of(const Cut& cut, const Problem& problem) const;

 private:
  using Coordinates = std::array<std::int32_t, torus_dimension_count_max>;

  [[nodiscard]] int hops(int node, int other) const;
  [[nodiscard]] Hops hops_across(const Cut& cut, std::size_t dimension, bool is_periodic) const;

  std::vector<int> extents_;
  const bool wraps_;
  const int node_ranks_;
  std::vector<Coordinates> coordinates_;  // of each node
};

}  // namespace sorrel::grid
