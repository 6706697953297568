//! The state of the interrupted code, for signal handlers.
#pragma once

#include <cstdint>
#include <ucontext.h>

namespace sorrel::arch {

/// Program counter of the interrupted thread. `context`: the handler's third argument.
inline std::uintptr_t interrupted_at(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#else
  return static_cast<std::uintptr_t>(machine.pc);
#endif
}

/// Its stack pointer.
inline const void* interrupted_stack(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(machine.gregs[REG_RSP]);
#else
  return reinterpret_cast<const void*>(machine.sp);
#endif
}

}  // namespace sorrel::arch
