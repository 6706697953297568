#include "os/memory_barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sorrel::os {

bool membarrier_is_available = false;

namespace {

// Written before the first use.
int barrier_command = MEMBARRIER_CMD_PRIVATE_EXPEDITED;

int membarrier(int command) {
  return static_cast<int>(syscall(SYS_membarrier, command, 0, 0));
}

}  // namespace

bool has_barrier_of_processes() {
  constexpr int needed = MEMBARRIER_CMD_GLOBAL_EXPEDITED | MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED;
  const int commands = membarrier(MEMBARRIER_CMD_QUERY);
  return commands >= 0 && (commands & needed) == needed;
}

bool init_memory_barrier(BarrierScope scope) {
  if (scope == BarrierScope::processes) {
    const bool is_available = membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0;
    // Writes only a change, because other threads of this process may already use it.
    if (is_available != membarrier_is_available) membarrier_is_available = is_available;
    if (is_available && barrier_command != MEMBARRIER_CMD_GLOBAL_EXPEDITED)
      barrier_command = MEMBARRIER_CMD_GLOBAL_EXPEDITED;
  } else if (barrier_command != MEMBARRIER_CMD_GLOBAL_EXPEDITED) {
    const bool is_available = membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0;
    if (is_available != membarrier_is_available) membarrier_is_available = is_available;
  }
  return membarrier_is_available;
}

void use_full_fences() {
  membarrier_is_available = false;
}

void heavy_barrier() {
  if (membarrier_is_available) {
    membarrier(barrier_command);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

}  // namespace sorrel::os
