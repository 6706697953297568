//! MainThreadRank - the only rank of a process in process mode, for its further OpenMP threads.
//! They call MPI on the rank's main thread; see loop/job_threads.hpp. Set once; any thread.
#pragma once

#include <cstdint>

namespace sorrel::runtime {

/// Called by the rank.
void set_home_rank();

/// Whether this thread control block is that of the rank's main thread.
[[nodiscard]] bool is_home_rank(std::uintptr_t thread_pointer);

/// Run on the main thread for an OpenMP thread: between the two calls it may call MPI.
void enter_home_rank();
void leave_home_rank();

}  // namespace sorrel::runtime
