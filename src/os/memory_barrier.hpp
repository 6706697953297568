//! An asymmetric fence: free for the side that runs often, a system call for the side that is about
//! to sleep.
//!
//! heavy_barrier() makes every running thread of this process pass through a full fence
//! (membarrier(2), private expedited). A thread that only ran light_barrier() is then ordered as if
//! it had run a full fence. Where the kernel refuses membarrier both sides fall back to full
//! fences.
#pragma once

#include <atomic>

namespace sorrel::os {

/// Registers this process; call once before the first use. Returns whether light_barrier() is free.
bool init_memory_barrier();

extern bool membarrier_is_available;

inline void light_barrier() {
  if (membarrier_is_available) [[likely]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

void heavy_barrier();

}  // namespace sorrel::os
