//! DebuggerTable - where debuggers find the ranks of this process: their saved registers and their
//! stacks. tools/gdb/sorrel_gdb.py reads it while the process is stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/fiber.hpp"
#include "os/stack_slab.hpp"

namespace sorrel::runtime {

/// The ranks of the process, numbered from `first_rank`, when they exist and while none of them
/// runs. `stacks`: theirs in the same order, from `first_stack` on; null if the first thread of the
/// process is the rank.
void publish_ranks_to_debuggers(std::vector<const core::Fiber*> fibers,
                                std::int32_t first_rank,
                                const os::StackSlab* stacks,
                                std::size_t first_stack);

}  // namespace sorrel::runtime
