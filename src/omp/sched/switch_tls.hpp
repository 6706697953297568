//! switch_tls() - installs another thread control block, at a switch between a worker's root and a
//! fiber. A thread sanitizer keeps its state of a thread in thread-locals, so it sees another
//! thread continue: the release and acquire here order the two.
#pragma once

#include <cstdint>

#include "arch/cpu.hpp"

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace sorrel::omp {

/// `fiber`: the fiber that is switched to or from.
inline void switch_tls(std::uintptr_t thread_pointer, [[maybe_unused]] void* fiber) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(fiber);
#endif
  arch::set_thread_pointer(thread_pointer);
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(fiber);
#endif
}

}  // namespace sorrel::omp
