#include "os/memory_barrier.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sorrel::os {

bool membarrier_is_available = false;

bool init_memory_barrier() {
  membarrier_is_available =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return membarrier_is_available;
}

void heavy_barrier() {
  if (membarrier_is_available) {
    syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

}  // namespace sorrel::os
