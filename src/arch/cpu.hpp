//! Instructions without a C++ equivalent: spin hint, prefetch, cycle counter, thread pointer.
#pragma once

#include <atomic>
#include <cstdint>

namespace sorrel::arch {

/// Hint to the core: this is a spin loop.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  asm volatile("yield");
#endif
}

/// Prefetches the cache line at `address` for reading. Never faults.
inline void prefetch(const void* address) {
  __builtin_prefetch(address);
}

/// Prefetches it for writing.
inline void prefetch_for_write(const void* address) {
#if defined(__x86_64__)
  // The compiler's builtin fetches the line for reading only, unless it may assume PREFETCHW.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

/// Whether the word has another value. One instruction reads and compares, by an operand in memory:
/// compilers load an atomic into a register first. Relaxed. `value` stays as it is.
[[gnu::always_inline]] inline bool differs(const std::atomic<std::uint32_t>& word, int& value) {
#if defined(__x86_64__)
  bool is_other;
  asm volatile("cmpl %1, %2" : "=@ccne"(is_other), "+r"(value) : "m"(word));
  return is_other;
#else
  return word.load(std::memory_order_relaxed) != static_cast<std::uint32_t>(value);
#endif
}

/// A constant-rate counter, the same on all cores of a supported machine; its rate is not known
/// here.
inline std::uint64_t cycles() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#else
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#endif
}

/// The thread pointer, the base address of thread-local variables.
inline std::uintptr_t thread_pointer() {
  return reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
}

/// Switches this thread to another thread control block. On x86_64 needs FSGSBASE
/// (tools/sorrel/machine/kernel_features.hpp). A pointer to a thread-local from before this call is
/// stale after it.
inline void set_thread_pointer(std::uintptr_t value) {
#if defined(__x86_64__)
  asm volatile("wrfsbase %0" : : "r"(value) : "memory");
#else
  asm volatile("msr tpidr_el0, %0" : : "r"(value) : "memory");
#endif
}

}  // namespace sorrel::arch
