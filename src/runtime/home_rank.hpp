//! HomeRank - the rank that is this process, for its further OpenMP threads: they come to its
//! thread to call MPI; see loop/job_threads.hpp. Set once; any thread.
#pragma once

#include <cstdint>

namespace sorrel::runtime {

/// By the rank.
void set_home_rank();

/// Whether it is the thread of this control block.
[[nodiscard]] bool is_home_rank(std::uintptr_t thread_pointer);

/// On an OpenMP thread, where the rank's runs: it may call MPI, until leave_home_rank().
void enter_home_rank();
void leave_home_rank();

}  // namespace sorrel::runtime
