//! DistGraphTopology - the edges of one rank in a distributed graph (MPI_Dist_graph_create and
//! _adjacent): no rank knows the whole graph.
//!
//! An edge may be there several times, and lead to its own rank. Weights have no effect on Sorrel's
//! placement of ranks; programs read them back.
#pragma once

#include "mpi/comm/topology/topology.hpp"

namespace sorrel::mpi {

class DistGraphTopology final : public Topology {
 public:
  static constexpr Kind own_kind = Kind::dist_graph;

  /// The edges in one direction: the ranks at their other ends and, in a weighted graph, their
  /// weights.
  struct Edges {
    std::vector<int> ranks;
    std::vector<int> weights;
  };

  DistGraphTopology(Edges in, Edges out, bool is_weighted)
      : Topology(own_kind), in_(std::move(in)), out_(std::move(out)), is_weighted_(is_weighted) {}

  [[nodiscard]] const Edges& in() const { return in_; }

  [[nodiscard]] const Edges& out() const { return out_; }

  [[nodiscard]] bool is_weighted() const { return is_weighted_; }

  [[nodiscard]] Neighborhood neighborhood_of(int /*rank*/) const override {
    return {.sources = in_.ranks, .destinations = out_.ranks, .is_paired = false};
  }

 private:
  const Edges in_;
  const Edges out_;
  const bool is_weighted_;
};

}  // namespace sorrel::mpi
