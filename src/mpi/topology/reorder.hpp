//! place_in_grid - where a rank goes in a grid so that few bytes leave a worker: what `reorder` of
//! MPI_Cart_create asks for.
//!
//! Needs to know how large the faces are: the info hint "sorrel_grid_extents" of the communicator,
//! "256,256,64", the cells of the whole grid in each dimension. Every rank of the communicator
//! gives the same hint, and each finds its own place without a message. Ranks stay where they are
//! without the hint, with more than three dimensions, with a hint that cannot be read, or when the
//! communicator's ranks do not fill workers evenly and in order.
#pragma once

#include "mpi/comm.hpp"
#include "mpi/topology/cart.hpp"

namespace sorrel::mpi {

inline constexpr const char* grid_extents_hint = "sorrel_grid_extents";

/// The rank in the grid of the caller, whose rank in `comm` is below cart.size().
[[nodiscard]] int place_in_grid(const Comm& comm, const CartTopology& cart);

}  // namespace sorrel::mpi
