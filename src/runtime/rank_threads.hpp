//! The job's functions for a further OpenMP thread of a rank; see loop/job_threads.hpp.
#pragma once

namespace sorrel::program {
class RankProcess;
}

namespace sorrel::runtime {

/// The process of the calling rank, or null. Set once, before any rank runs.
void set_rank_process_of_caller(program::RankProcess* (*of_caller)());

/// Whether a rank has used OpenMP. Any thread.
[[nodiscard]] bool has_openmp_ranks();

}  // namespace sorrel::runtime
