//! VectorFold - the vectors of a communicator's members, combined in its barrier nodes when the
//! last member of a worker arrives.
//!
//! README.md, "Vectors that are combined on arrival". Calls on a node are those of its worker.
#pragma once

#include "mpi/collectives/barrier_nodes.hpp"

namespace sorrel::mpi {

/// Combines the vectors of the node's members, which have arrived. `published` has each member's
/// vector, by rank.
void fold_members(BarrierNode& barrier_node,
                  const BarrierMembers& members,
                  const void* const* published);

/// Combines that total with those of the node's children or peer, which have combined theirs.
void fold_others(BarrierNode& barrier_node,
                 const BarrierMembers& members,
                 const void* const* published);

}  // namespace sorrel::mpi
