//! WaitCollection - makes the table of the ranks of this process that wait.
#pragma once

#include <memory>
#include <vector>

#include "mpi/job/process_world.hpp"
#include "runtime/wait_table.hpp"

namespace sorrel::runtime {

/// The waiting ranks of this process, all of whose workers sleep.
[[nodiscard]] WaitTable waits_of(const std::vector<std::unique_ptr<mpi::ProcessWorld>>& worlds);

}  // namespace sorrel::runtime
