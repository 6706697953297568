//! Mapped memory - the memory of a window in a segment that all its processes map, so that their
//! ranks access it as ranks of one process do.
//!
//! The segment begins with the accumulate locks, one cache line for each member. It has no name
//! (docs/decisions/0005): the first process creates it, the others open it through /proc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/rma/window.hpp"

namespace sorrel::mpi {

/// Called by the first member of each process, with the bytes of each member there. Sets address
/// and accumulate lock of all entries, in the order of the ranks, each address a multiple of
/// `alignment`. Fails on all processes alike, and then sets nothing: MPI_ERR_RMA_SHARED, the
/// processes are not on one node or cannot open each other's memory; MPI_ERR_NO_MEM. May suspend.
[[nodiscard]] int map_together(const Member& member,
                               WinShared& shared,
                               std::vector<std::int64_t>& own_bytes,
                               std::size_t alignment);

}  // namespace sorrel::mpi
