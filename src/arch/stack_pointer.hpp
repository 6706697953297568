//! The stack pointer.
#pragma once

#include <cstdint>

namespace sorrel::arch {

/// An address in the frame of the caller, or of the function into which the caller is inlined.
[[gnu::always_inline]] inline std::uintptr_t stack_pointer() {
  std::uintptr_t value = 0;
#if defined(__x86_64__)
  asm("mov %%rsp, %0" : "=r"(value));
#else
  asm("mov %0, sp" : "=r"(value));
#endif
  return value;
}

}  // namespace sorrel::arch
