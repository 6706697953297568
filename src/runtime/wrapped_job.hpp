//! WrappedJob - a job whose program was started by a wrapper, such as env, a shell or a debugger,
//! instead of by `sorrel run` itself.
//!
//! The wrapper runs once in each process of the job and passes the job on in its environment. The
//! first program below it that links this library claims the job. In a job of one process each
//! further one runs the job again.
#pragma once

#include <string>

namespace sorrel::core {
class JobMemory;
}

namespace sorrel::runtime {

struct Config;
struct JobClaims;

struct WrappedJob {
  std::string wrapper;  ///< as the user wrote it; "" for a job without one
  std::string program;  ///< path of the program that `sorrel run` has inspected, or ""
  std::string command;  ///< path of `sorrel`, which can inspect another one
  /// Shared with the launcher; null without a wrapper and under a host MPI.
  JobClaims* claims = nullptr;
};

/// The program cannot run as the job asks: the launcher shall not end with status 0.
void note_refusal(const WrappedJob& job);

/// Makes this process the job's process `config.own_process`. The result says why that is not
/// possible; "" if it is done.
[[nodiscard]] std::string claim_job(Config& config, int claims_descriptor);

/// Why this process's program cannot run with several ranks in one process, by what `sorrel run`
/// would have found out if it had seen the program; "" if it can. Starts a child.
[[nodiscard]] std::string why_not_shared(const Config& config);

}  // namespace sorrel::runtime
