//! MainThreadRank - the only rank of a process in process mode, for its further OpenMP threads.
//! They call MPI on the rank's main thread; see loop/job_threads.hpp. Set once; any thread.
#pragma once

#include <cstdint>

namespace sorrel::mpi {
struct RankState;
}

namespace sorrel::runtime {

/// Called by the rank.
void set_main_thread_rank();

/// The rank of the process; null before it is set. Any thread.
[[nodiscard]] mpi::RankState* main_thread_rank();

/// Whether this thread control block is that of the rank's main thread.
[[nodiscard]] bool is_main_thread(std::uintptr_t thread_pointer);

/// Run on the main thread for an OpenMP thread: between the two calls it may call MPI.
void enter_main_thread();
void leave_main_thread();

}  // namespace sorrel::runtime
