//! A fence between loads and the cycle counter. Separate from cpu.hpp: it costs tens of cycles.
#pragma once

namespace sorrel::arch {

/// A later reading of cycles() is taken after all earlier loads are complete. Without it a
/// processor may read the counter before a load that precedes it: a message would seem to arrive
/// before another core has sent it.
inline void finish_loads() {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#else
  asm volatile("dmb ishld\n\tisb" : : : "memory");
#endif
}

}  // namespace sorrel::arch
