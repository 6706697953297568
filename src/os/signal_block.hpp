//! SignalBlock - while it exists, no signal arrives on the calling thread but those of its own
//! faults. Threads and processes that are made meanwhile inherit that.
#pragma once

#include <csignal>

namespace sorrel::os {

class SignalBlock {
 public:
  SignalBlock();
  ~SignalBlock();
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

  /// The thread's mask before.
  [[nodiscard]] const sigset_t& before() const { return before_; }

 private:
  sigset_t before_;
};

}  // namespace sorrel::os
