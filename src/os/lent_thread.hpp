//! LentThread - a thread of the C library that sleeps for ever while a fiber uses what it has: its
//! thread control block (thread pointer), its thread-locals, its stack below the sleeping frames.
//!
//! Only the C library makes control blocks, and it knows about each: dynamic thread-locals,
//! pthread_self(), pthread_getattr_np() and keys work in the fiber. Signals are blocked in the
//! sleeping thread, so nothing else touches the stack. It never ends: what is lent is used again.
//! Any thread may call lend_thread(). Cost: about 15 us, and the pages of the stack that are used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::os {

struct LentThread {
  std::uintptr_t thread_pointer = 0;
  std::byte* stack_bottom = nullptr;
  std::size_t stack_bytes = 0;
};

/// `prepare` runs first on the new thread, with its thread-locals. stack_bytes, beside the
/// thread-locals; 0: the system's default. False if the system allows no more threads.
[[nodiscard]] bool lend_thread(std::size_t stack_bytes,
                               void (*prepare)(void* argument),
                               void* argument,
                               LentThread& lent);

}  // namespace sorrel::os
