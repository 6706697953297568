//! Neighbourhood collectives - each rank exchanges blocks with its neighbours in the topology of
//! its communicator (MPI 5.0, 8.6).
//!
//! Every edge is one message under the tag of the kind of collective, so no rank waits for more
//! than its neighbours. The messages of an edge match in the order of the calls, which is the same
//! at both ends; so do those of several edges between two ranks, and of several operations in
//! progress. In a grid, the receives of a dimension are posted in the opposite order of its sends:
//! with two ranks, or one, in a dimension, both neighbours are the same rank, and what it sends in
//! the negative direction must arrive in the block of the positive one.
#pragma once

#include "mpi/base/internal_tag.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/comm/topology/topology.hpp"
#include "mpi/match/operation.hpp"

namespace sorrel::mpi {

/// This rank's neighbours in the topology of the communicator.
[[nodiscard]] const Neighborhood& neighborhood_of(Comm& comm);

/// What a rank sends along its edges and receives. One of the two sends is used.
struct NeighborBlocks {
  NeighborKind kind;
  TypedBuffer send_to_all = {};
  BlockList send = {};
  BlockList receive = {};

  [[nodiscard]] bool is_gather() const {
    return kind == NeighborKind::allgather || kind == NeighborKind::allgatherv;
  }

  [[nodiscard]] TypedBuffer send_of(std::int32_t edge) const {
    return is_gather() ? send_to_all : send.of(edge);
  }
};

/// Calls receive(block, source) for each edge to this rank and send(block, destination) for each
/// from it, in the order in which messages match; first all receives.
template <class Receive, class Send>
void for_each_edge(const Neighborhood& around,
                   const NeighborBlocks& blocks,
                   Receive&& receive,
                   Send&& send) {
  for (std::size_t i = 0; i < around.sources.size(); ++i) {
    const std::size_t edge = around.is_paired ? i ^ 1 : i;
    if (around.sources[edge] != MPI_PROC_NULL)
      receive(blocks.receive.of(static_cast<std::int32_t>(edge)), around.sources[edge]);
  }
  for (std::size_t edge = 0; edge < around.destinations.size(); ++edge) {
    if (around.destinations[edge] != MPI_PROC_NULL)
      send(blocks.send_of(static_cast<std::int32_t>(edge)), around.destinations[edge]);
  }
}

/// Blocking. MPI_ERR_TRUNCATE if a message is longer or shorter than its block. May suspend.
[[nodiscard]] int exchange_with_neighbors(const Member& member, const NeighborBlocks& blocks);

/// A request for the same, not started; `name` is the function's, a constant. The blocks' arrays
/// are not used after the call. Never suspends.
[[nodiscard]] Request& make_neighbor_request(const Member& member,
                                             const NeighborBlocks& blocks,
                                             Request::Life life,
                                             const char* name);

}  // namespace sorrel::mpi
