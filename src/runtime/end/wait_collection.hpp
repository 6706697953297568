//! WaitCollection - makes the table of the ranks of this process that wait, and of the messages
//! that have come to them.
#pragma once

#include <memory>
#include <vector>

#include "mpi/job/process_world.hpp"
#include "report/wait_table.hpp"

namespace sorrel::runtime {

/// The waiting ranks of this process, all of whose workers sleep.
[[nodiscard]] report::WaitTable waits_of(
    const std::vector<std::unique_ptr<mpi::ProcessWorld>>& worlds);

}  // namespace sorrel::runtime
