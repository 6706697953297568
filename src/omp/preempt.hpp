//! Preemption - takes a native thread's core back from a fiber that has run on it for long: the
//! fiber may be waiting, in a loop of the program's own, for that very thread.
//!
//! A signal (SIGURG, which does nothing by default) makes the fiber switch back to the root; it
//! goes on where it was interrupted, on whatever worker takes it. Only in the program's own code:
//! the interrupted instruction must lie in the file that holds the region's body, where neither our
//! library nor the C library holds a lock. The pool's monitor calls; a program with a handler for
//! SIGURG of its own is left alone.
#pragma once

namespace sorrel::omp {

class Worker;
struct Thread;

/// Asks the OS thread of `worker`, which has run `fiber` for long, to let go of it.
void preempt(const Worker& worker, const Thread& fiber);

}  // namespace sorrel::omp
