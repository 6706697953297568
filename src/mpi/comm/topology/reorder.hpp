//! reordered_rank - the rank of a process in a grid such that few bytes leave a worker: the purpose
//! of `reorder` in MPI_Cart_create.
//!
//! Reads the sizes of the faces from the communicator's info hint "sorrel_grid_extents",
//! "256,256,64": the cells of the whole grid in each dimension. Every rank of the communicator
//! gives the same hint and computes its own position without a message. Ranks stay unchanged
//! without the hint, with more than three dimensions, with an invalid hint, or if the
//! communicator's ranks do not fill workers evenly and in order.
#pragma once

#include "mpi/comm/comm.hpp"
#include "mpi/comm/topology/cart.hpp"

namespace sorrel::mpi {

inline constexpr const char* grid_extents_hint = "sorrel_grid_extents";

/// The rank in the grid of the caller, whose rank in `comm` is below cart.size().
[[nodiscard]] int reordered_rank(const Comm& comm, const CartTopology& cart);

}  // namespace sorrel::mpi
