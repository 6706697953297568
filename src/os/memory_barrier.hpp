//! An asymmetric fence: free for the thread that runs often, a system call for the thread that is
//! about to sleep.
//!
//! heavy_barrier() makes every running thread of this process, or of all registered processes,
//! execute a full fence (membarrier(2), private or global expedited). A thread that ran only
//! light_barrier() is then ordered as if it had run a full fence. Where the kernel does not support
//! membarrier both sides fall back to full fences; processes that share memory must agree on that.
#pragma once

#include <atomic>

namespace sorrel::os {

/// The threads that are ordered.
enum class BarrierScope { process, processes };

/// Whether this kernel supports membarrier for the threads of several processes. The answer holds
/// for all processes that the caller starts.
[[nodiscard]] bool has_barrier_of_processes();

/// Registers this process; call before the first use. Returns whether light_barrier() is free. A
/// wider scope, once set, stays.
bool init_memory_barrier(BarrierScope scope = BarrierScope::process);

/// Full fences on both sides from here on, because another process supports nothing else. Call
/// before the first use.
void use_full_fences();

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
