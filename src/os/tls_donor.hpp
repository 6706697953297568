//! TlsDonor - a thread of the C library that sleeps forever while a fiber uses its thread control
//! block (thread pointer), its thread-locals, and its stack below the sleeping frames.
//!
//! Only the C library creates control blocks, and it has a record of each. So dynamic
//! thread-locals, pthread_self(), pthread_getattr_np() and keys work in the fiber. Signals are
//! blocked in the sleeping thread, so nothing else uses the stack. The thread never ends: its
//! resources are reused. Any thread may call. Cost: about 15 us, and the used pages of the stack.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::os {

struct TlsDonor {
  std::uintptr_t thread_pointer = 0;
  std::byte* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
};

/// `prepare` runs first on the new thread, with its thread-locals. stack_bytes excludes the
/// thread-locals; 0: the system's default. Returns false if the system allows no more threads.
[[nodiscard]] bool make_tls_donor(std::size_t stack_bytes,
                                  void (*prepare)(void* argument),
                                  void* argument,
                                  TlsDonor& donor);

}  // namespace sorrel::os
