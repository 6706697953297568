//! A job whose program was started by a wrapper, such as env, a shell or a debugger,
//! instead of by `sorrel run` itself.
//!
//! The wrapper runs once in each process of the job and passes the job on in its environment. The
//! first program below it that links this library claims the job. In a job of one process each
//! later program runs the job again.
#pragma once

#include <string>

namespace sorrel::runtime {

struct Config;

/// Records that the program cannot run as the job asks: the launcher must not end with status 0.
void record_failure(const Config& config);

/// Makes this process process `config.own_process` of the job. Returns why that is not possible; ""
/// on success.
[[nodiscard]] std::string claim_job(Config& config, int claims_descriptor);

/// Why this process's program cannot run with several ranks in one process; "" if it can. Makes the
/// check that `sorrel run` would have made on the program. Starts a child.
[[nodiscard]] std::string wrapped_sharing_error(const Config& config);

}  // namespace sorrel::runtime
