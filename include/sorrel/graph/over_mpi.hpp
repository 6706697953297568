//! over_mpi - the messages of a graph as persistent requests of MPI.
//!
//!   sorrel::Graph g(sorrel::graph::over_mpi(MPI_COMM_WORLD));
//!
//! Uses the standard's functions only, so it runs under any MPI. Peers are ranks of the
//! communicator, which is duplicated, so tags do not collide with the program's. over_mpi() is
//! therefore collective, and so is the destructor of the graph, which must run before MPI_Finalize.
//! Only the rank that runs the graph calls MPI: MPI_THREAD_FUNNELED suffices. May suspend.
#pragma once

#include <memory>
#include <mpi.h>

#include <sorrel/graph/messenger.hpp>
#include <sorrel/graph/tiling.hpp>

namespace sorrel::graph {

/// Options of over_mpi().
struct OverMpiOptions {
  /// Long messages are read long after they arrive, as in a transpose, so they are written past the
  /// caches. A hint, `sorrel_read_late` of the communicator; other MPIs ignore it.
  bool is_read_late = false;
};

/// A messenger between the ranks of a communicator. Collective; so is the end of its graph. May
/// suspend.
///
/// @param comm is duplicated
/// @param options whether long messages are read late
/// @return for the constructor of Graph
[[nodiscard]] std::unique_ptr<Messenger> over_mpi(MPI_Comm comm,
                                                  const OverMpiOptions& options = {});

/// Options of a tiling over the ranks of a communicator. Sets the rank, and the dimensions along
/// which no rank has a neighbour on another machine. Collective; may suspend.
///
/// @param comm the ranks; not duplicated
/// @param options the same on all ranks
/// @return the options, with what depends on the communicator
[[nodiscard]] TilingOptions tiling_over(MPI_Comm comm, TilingOptions options);

}  // namespace sorrel::graph
