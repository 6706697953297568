//! KernelWait - the system call in which a thread sleeps: of this process, or the first of a child.
//!
//! Read from /proc, so any thread may query any thread. The answer may be out of date on return.
#pragma once

#include <optional>
#include <string>

namespace sorrel::os {

/// Whether the thread sleeps in the kernel: it neither runs, nor is runnable, nor is stopped.
[[nodiscard]] bool is_in_kernel_wait(int thread);

struct KernelWait {
  /// "read(3, /tmp/fifo)", or a text that states that the call is unknown.
  std::string call;
  /// It waits for standard input.
  bool is_for_input = false;
  /// A signal handler with SA_RESTART does not end the call.
  bool is_restarted = false;
};

[[nodiscard]] KernelWait kernel_wait_of(int thread);

/// The wait of a child's first thread. Nothing if it does not sleep in the kernel.
[[nodiscard]] std::optional<KernelWait> kernel_wait_of_process(int process);

}  // namespace sorrel::os
