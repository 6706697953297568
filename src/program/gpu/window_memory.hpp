//! The memory of a rank on devices, as other ranks of the process reach it in its windows.
//!
//! Copies are made in a stream of the owner, in the context of the allocation, which the other
//! ranks need not have: it ends with the owner's. Each waits for an event behind its own copies.
#pragma once

#include "device/owned_memory.hpp"

namespace sorrel::program::gpu {

class RankGpu;

/// The owner, or a thread of it in a call of MPI. Made at the first use.
[[nodiscard]] device::OwnedMemory& window_memory_of(RankGpu& owner);

}  // namespace sorrel::program::gpu
