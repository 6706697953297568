//! Native threads - threads of the program that become OpenMP threads at their first call.
//!
//! Each has a group of its own (native_group.hpp).
#pragma once

#include "omp/team/team_thread.hpp"

namespace sorrel::omp {

/// Makes a thread of the program an OpenMP thread, with a group of its own.
[[nodiscard, gnu::noinline, gnu::cold]] TeamThread& attach_native_thread();

/// The calling OpenMP thread; a thread of the program becomes one at its first call.
[[nodiscard]] inline TeamThread& this_thread() {
  Thread* thread = own_thread;
  return thread != nullptr ? static_cast<TeamThread&>(*thread) : attach_native_thread();
}

/// The flags that GCC passes to a region hold its proc_bind clause.
inline void push_bind(unsigned flags) {
  constexpr unsigned bind_bits = 7;
  if ((flags & bind_bits) != 0) [[unlikely]]
    this_thread().pushed_bind = flags & bind_bits;
}

}  // namespace sorrel::omp
