//! Preemption - takes a native thread's core back from a fiber that has run on it for long: the
//! fiber may wait, in a loop of the program, for that native thread.
//!
//! A signal (SIGURG, ignored by default) makes the fiber switch back to the root. It continues
//! where it was interrupted, on any worker that takes it. Only in the program's own code: the
//! interrupted instruction must lie in the file that holds the region's body, where neither this
//! library nor the C library holds a lock. Called by the pool's monitor. A program with a SIGURG
//! handler of its own is not preempted.
#pragma once

#include <cstdint>

namespace sorrel::omp {

class Worker;

/// Requests the OS thread of `worker`, which has run a fiber for long, to switch away from it. The
/// region's body is at `code`.
void preempt(const Worker& worker, std::uintptr_t code);

}  // namespace sorrel::omp
