//! What a further OpenMP thread of a rank needs of the job; see loop/job_threads.hpp.
#pragma once

namespace sorrel::program {
class RankProcess;
}

namespace sorrel::runtime {

/// Of the rank that calls, or null. Set once, before any rank runs.
void set_rank_process_of_caller(program::RankProcess* (*of_caller)());

}  // namespace sorrel::runtime
