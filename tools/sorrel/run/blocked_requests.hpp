//! BlockedRequests - keeps SIGUSR1, which requests a report of a job's ranks, from ending a command
//! that is about to start the job. The job's process handles it later.
#pragma once

#include <csignal>

namespace sorrel::tool {

class BlockedRequests {
 public:
  /// Blocks the signal in this process.
  BlockedRequests() {
    sigset_t requests;
    sigemptyset(&requests);
    sigaddset(&requests, SIGUSR1);
    sigprocmask(SIG_BLOCK, &requests, &mask_before_);
  }

  [[nodiscard]] const sigset_t& mask_before() const { return mask_before_; }

  /// Whether this object has blocked it, not the caller of the command.
  [[nodiscard]] bool are_own() const { return sigismember(&mask_before_, SIGUSR1) == 0; }

  void end() const { sigprocmask(SIG_SETMASK, &mask_before_, nullptr); }

 private:
  sigset_t mask_before_{};
};

}  // namespace sorrel::tool
