//! ThisProcess - the job of this process. There is one at a time, because there is one program.
#pragma once

namespace sorrel::runtime {

class Job;

/// Before the first rank runs; null after the last job of a process that goes on. The process is
/// the job's, a child that it forks is not (os/own_process.hpp).
void set_job_of_process(Job* job);

/// Null: none. Any thread, safe in signal handlers: what precedes set_job_of_process() is visible.
[[nodiscard]] Job* job_of_process();

}  // namespace sorrel::runtime
