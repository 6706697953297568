//! RankNeeds - what the waiting ranks of a process need, as a graph: which ranks could release
//! them. README.md, "Deadlocks while other ranks run", has the rule and its proof.
#pragma once

#include "mpi/job/process_world.hpp"
#include "mpi/job/wait_graph.hpp"

namespace sorrel::mpi {

/// While no fiber of the process runs and nothing is on its way between its workers, or on the
/// thread of its only worker.
[[nodiscard]] WaitGraph needs_of(const ProcessWorld& world);

}  // namespace sorrel::mpi
