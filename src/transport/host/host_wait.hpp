//! wait_until - polls the host MPI until a condition holds, while all workers of the process are
//! stopped.
#pragma once

#include "os/thread.hpp"

namespace sorrel::transport {

template <class Condition>
void wait_until(Condition&& is_true) {
  /// Polls between two chances for another process that needs this core.
  constexpr int polls_per_yield = 64;
  for (int poll = 1; !is_true(); ++poll) {
    if (poll % polls_per_yield == 0) os::yield_core();
  }
}

}  // namespace sorrel::transport
