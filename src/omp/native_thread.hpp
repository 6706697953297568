//! Native threads - threads of the program that become OpenMP threads at their first call.
//!
//! Each has a group of its own. When it ends, the next new one takes the group over with its
//! fibers.
#pragma once

#include "omp/thread.hpp"

namespace sorrel::omp {

/// Makes a thread of the program an OpenMP thread, with a group of its own.
[[nodiscard, gnu::noinline, gnu::cold]] Thread& attach_native_thread();

/// The calling OpenMP thread; a thread of the program becomes one at its first call.
[[nodiscard]] inline Thread& this_thread() {
  Thread* thread = own_thread;
  return thread != nullptr ? *thread : attach_native_thread();
}

}  // namespace sorrel::omp
