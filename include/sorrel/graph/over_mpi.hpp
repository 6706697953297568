//! over_mpi - the messages of a graph as persistent requests of MPI.
//!
//!   sorrel::Graph g(sorrel::graph::over_mpi(MPI_COMM_WORLD));
//!
//! Speaks the standard's own functions, so it runs under any MPI. Peers are ranks of the
//! communicator; its tags are its own, since it is duplicated first: over_mpi() is collective, and
//! so is the graph's end, which must come before MPI_Finalize. MPI is called by the rank that runs
//! the graph alone: MPI_THREAD_FUNNELED is enough. May suspend.
#pragma once

#include <memory>
#include <mpi.h>

#include <sorrel/graph/messenger.hpp>
#include <sorrel/graph/tiling.hpp>

namespace sorrel::graph {

struct OverMpiOptions {
  /// Long messages are read long after they have come, as in a transpose: they need no place in the
  /// caches. A hint, `sorrel_read_late` of the communicator; other MPIs take no notice of it.
  bool is_read_late = false;
};

[[nodiscard]] std::unique_ptr<Messenger> over_mpi(MPI_Comm comm,
                                                  const OverMpiOptions& options = {});

/// The options of a tiling over the ranks of `comm`, completed by its rank and by the dimensions
/// along which no rank has a neighbour on another machine. Collective: all give the same options.
[[nodiscard]] TilingOptions tiling_over(MPI_Comm comm, TilingOptions options);

}  // namespace sorrel::graph
