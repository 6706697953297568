//! KernelWait - in which system call a thread of this process sleeps.
//!
//! Read from /proc, so any thread may ask about any other. The answer may be out of date when it is
//! given.
#pragma once

#include <string>

namespace sorrel::os {

/// Whether the thread sleeps in the kernel: it neither runs, nor waits for a core, nor is stopped.
[[nodiscard]] bool is_in_kernel_wait(int thread);

struct KernelWait {
  /// "read(3, /tmp/fifo)"; a text that says that it is unknown where the kernel does not tell.
  std::string call;
  /// It waits for standard input.
  bool is_for_input = false;
};

[[nodiscard]] KernelWait kernel_wait_of(int thread);

}  // namespace sorrel::os
