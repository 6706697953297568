//! Claims of own threads - when fibers get kernel threads of their own (own_thread.hpp), how such a
//! fiber starts in the next region, and what a fiber does that is about to sleep in the C library.
//!
//! From the first claim on, native threads run no fibers, because they cannot wait for the return
//! of one that has a thread of its own. Not for ranks, whose threads run on the rank's worker or
//! call MPI there.
#pragma once

#include <cstdint>

#include "omp/sched/thread.hpp"

namespace sorrel::omp {

/// Whether the thread's process is a plain program.
[[nodiscard]] bool may_own_threads(const Thread& thread);

/// A calling fiber of a plain program runs on a kernel thread of its own from here on. May suspend.
void claim_own_thread();

/// Any thread: `fiber` is to do so as soon as it does not run. If it waits, that is soon, and the
/// call waits a moment for it.
void request_own_thread(Thread& fiber);

/// A calling fiber of a plain program continues on a helper if it runs on a native thread: it is
/// about to sleep in the C library, perhaps until that native thread has done something. May
/// suspend.
void leave_native_thread();

/// sched_yield() of a fiber: lets ready fibers run, and the native thread that it keeps from its
/// core. False if the caller is none, or may not suspend.
[[nodiscard]] bool yield_in_program();

/// By a fiber on its own thread that has docked, with its turn; `number`: its start bit. Polls for
/// a while whether it is to start in the next region, which would else begin with two wake-ups.
/// True: it starts.
[[nodiscard]] bool take_next_start(Thread& fiber, std::uint32_t number);

}  // namespace sorrel::omp
