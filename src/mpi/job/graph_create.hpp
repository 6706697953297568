//! Creating communicators with a graph or a distributed graph as topology - collective over the
//! parent, may suspend.
//!
//! Ranks keep their order, whatever `reorder` says: the standard allows it. All ranks of a process
//! reach each other's memory alike, and neighbours in the numbering of the program share a worker
//! and a process already. Another order pays only if it moves fewer bytes between processes than
//! redistributing the program's data costs, which weights do not tell.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/comm/comm.hpp"
#include "mpi/comm/topology/dist_graph.hpp"
#include "mpi/comm/topology/graph.hpp"

namespace sorrel::mpi {

/// A communicator of the parent's first ranks, one for each node; null for the other ranks. The
/// members of a process share one graph. MPI_ERR_TOPOLOGY: the caller's graph differs from that of
/// the first member in its process.
[[nodiscard]] int graph_create(RankState& self,
                               Comm& parent,
                               GraphTopology::Pointer graph,
                               Comm** result);

/// The edges that one rank contributes to a distributed graph; they may be any rank's.
struct GraphContribution {
  struct Edge {
    std::int32_t source;
    std::int32_t destination;
    std::int32_t weight;
  };
  enum class Weights : std::int32_t {
    any,  ///< No edges, and a null pointer for the weights.
    unweighted,
    weighted,
  };

  std::vector<Edge> edges;
  Weights weights = Weights::any;
};

/// The parent's group again, with the graph of all contributions. A rank's edges are in the order
/// of the ranks that contributed them, and of their positions there. MPI_ERR_ARG: weights on some
/// ranks only.
[[nodiscard]] int dist_graph_create(RankState& self,
                                    Comm& parent,
                                    const GraphContribution& contribution,
                                    Comm** result);

}  // namespace sorrel::mpi
