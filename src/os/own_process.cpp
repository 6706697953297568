#include "os/own_process.hpp"

#include <atomic>
#include <sys/types.h>
#include <unistd.h>

namespace sorrel::os {

namespace {

// Relaxed: the first call precedes all forks. 0: not recorded.
std::atomic<pid_t> own_process{0};

}  // namespace

void record_own_process() {
  pid_t none = 0;
  own_process.compare_exchange_strong(none, getpid(), std::memory_order_relaxed);
}

bool is_forked_child() {
  const pid_t own = own_process.load(std::memory_order_relaxed);
  return own != 0 && getpid() != own;
}

}  // namespace sorrel::os
