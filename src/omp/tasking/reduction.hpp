//! Reductions over tasks: the addresses of each thread's private copies.
//!
//! The compiler passes an array: [0] count of variables, [1] bytes of one thread's copies, [2]
//! alignment, which becomes the address of all copies, [4] the next array, [6] the copies' end,
//! then three words for each variable: its address, the offset of its copy, one for this library.
//! [5] marks the first of a chain. Called by the entry points on an OpenMP thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::omp {

struct TeamThread;

/// Gives the arrays memory, or that of `first`, the arrays of the thread that was first.
void register_reductions(std::uintptr_t* data,
                         const std::uintptr_t* first,
                         std::uint32_t thread_count);

/// Adds these reductions to the current task's group.
void add_reductions(TeamThread& thread, std::uintptr_t* data);

void unregister_reductions(std::uintptr_t* data);

/// Replaces `count` addresses by those of the calling thread's copies; behind them come the
/// originals of the first `original_count`.
void remap_reductions(const TeamThread& thread,
                      std::size_t count,
                      std::size_t original_count,
                      void** pointers);

}  // namespace sorrel::omp
