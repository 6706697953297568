//! Preemption - takes a native thread's core back from a fiber that has run on it for long: the
//! fiber may wait, in a loop of the program, for that native thread.
//!
//! A signal (SIGURG, ignored by default) makes the fiber switch back to the root. It continues
//! where it was interrupted, on any worker that takes it. Only in the program's own code: the
//! interrupted instruction must lie in the file that holds the region's body, where neither this
//! library nor the C library holds a lock, and not while it sleeps. Called by the pool's monitor. A
//! program with a SIGURG handler of its own is not preempted.
#pragma once

#include <cstdint>

namespace sorrel::omp {

/// Requests an OS thread, by the system's number of it, to switch away from the fiber that it has
/// run for long. The region's body is at `code`.
void preempt(int native_number, std::uintptr_t code);

}  // namespace sorrel::omp
