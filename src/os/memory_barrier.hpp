//! An asymmetric fence: free for the side that runs often, a system call for the side that is about
//! to sleep.
//!
//! heavy_barrier() makes every running thread of this process, or of all registered processes, pass
//! through a full fence (membarrier(2), private or global expedited). A thread that only ran
//! light_barrier() is then ordered as if it had run a full fence. Where the kernel refuses
//! membarrier both sides fall back to full fences; processes that share memory must agree on that.
#pragma once

#include <atomic>

namespace sorrel::os {

/// Whose threads are ordered.
enum class BarrierScope { process, processes };

/// Whether this kernel has membarrier for the threads of many processes: what one of them finds
/// holds for those it starts.
[[nodiscard]] bool has_barrier_of_processes();

/// Registers this process; call before the first use. Returns whether light_barrier() is free.
/// A wider scope, once given, stays.
bool init_memory_barrier(BarrierScope scope = BarrierScope::process);

/// Full fences on both sides from here on, because another process has nothing better. Before the
/// first use.
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
