//! GraphTopology - a graph that every rank of the communicator knows whole (MPI_Graph_create).
//!
//! Node i is rank i. An edge may be there several times, and lead to its own node. Independent of
//! the communicator. Size: O(nodes + edges), once for each process.
#pragma once

#include <span>

#include "mpi/base/error_detail.hpp"
#include "mpi/comm/topology/topology.hpp"

namespace sorrel::mpi {

class GraphTopology final : public Topology {
 public:
  static constexpr Kind own_kind = Kind::graph;
  using Pointer = std::shared_ptr<const GraphTopology>;

  /// The user's description: the edges of node i are edges[index[i - 1]..index[i]), with 0 for
  /// index[-1].
  struct Arguments {
    int node_count;
    const int* index;
    const int* edges;
  };

  /// A graph for at most `rank_count_max` ranks. MPI_ERR_ARG: a negative number, an index that
  /// decreases, a null array, an edge to a node that does not exist; MPI_ERR_TOPOLOGY: more nodes
  /// than ranks.
  [[nodiscard]] static int make(const Arguments& arguments,
                                int rank_count_max,
                                Pointer* result,
                                ErrorDetail& detail);

  [[nodiscard]] int node_count() const { return static_cast<int>(index_.size()); }

  [[nodiscard]] int edge_count() const { return static_cast<int>(edges_.size()); }

  [[nodiscard]] std::span<const int> index() const { return index_; }

  [[nodiscard]] std::span<const int> edges() const { return edges_; }

  /// `node` in 0..node_count()-1.
  [[nodiscard]] std::span<const int> neighbors_of(int node) const;

  /// Whether as many edges lead from a to b as from b to a, for all nodes: the standard restricts
  /// neighbourhood collectives to such graphs.
  [[nodiscard]] bool is_symmetric() const { return is_symmetric_; }

  [[nodiscard]] bool is_equal(const GraphTopology& other) const {
    return index_ == other.index_ && edges_ == other.edges_;
  }

  [[nodiscard]] Neighborhood neighborhood_of(int rank) const override;

 private:
  GraphTopology() : Topology(own_kind) {}

  [[nodiscard]] bool find_symmetry() const;

  std::vector<int> index_;
  std::vector<int> edges_;
  bool is_symmetric_ = true;
};

}  // namespace sorrel::mpi
