//! become() - takes another thread's control block, at a switch between a worker's root and a
//! fiber. To a thread sanitizer, whose state of a thread lies in its thread-locals, that is another
//! thread going on: it is told that what the one did comes before what the other does.
#pragma once

#include <cstdint>

#include "arch/cpu.hpp"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace sorrel::omp {

/// `fiber`: the one that is switched to or from.
inline void become(std::uintptr_t thread_pointer, [[maybe_unused]] void* fiber) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(fiber);
#endif
  arch::set_thread_pointer(thread_pointer);
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(fiber);
#endif
}

}  // namespace sorrel::omp
