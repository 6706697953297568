//! WaitMask - the mask of a rank during a call that waits with a mask of its own: sigsuspend,
//! ppoll, pselect, epoll_pwait.
//!
//! Used by the rank, on its worker or on a thread of its own.
#pragma once

#include <cerrno>
#include <csignal>
#include <optional>

#include "os/signal_block.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program {

class WaitMask {
 public:
  /// Null: the mask stays.
  WaitMask(RankSignals& signals, const sigset_t* mask)
      : signals_(signals), has_mask_(mask != nullptr) {
    if (has_mask_)
      before_ = signals.exchange_mask(mask_of(*mask) & ~mask_of(SIGKILL) & ~mask_of(SIGSTOP));
  }

  WaitMask(const WaitMask&) = delete;
  WaitMask& operator=(const WaitMask&) = delete;

  /// Handlers of signals that the rank now accepts again run here.
  ~WaitMask() {
    if (has_mask_) signals_.change_mask(before_);
  }

  /// The mask before, and no handler runs.
  void restore() {
    if (has_mask_) signals_.exchange_mask(before_);
    has_mask_ = false;
  }

 private:
  RankSignals& signals_;
  bool has_mask_;
  SignalMask before_ = 0;
};

/// A wait of the system with the mask `mask`, by a rank on a thread of its own. `wait(own)` waits
/// with the mask `own` of the thread, to which signals for the rank come; `look()` does not wait.
/// -1 and EINTR exactly if a handler has run: the mask is that of the wait only while none can
/// arrive on the thread, or in `wait()`.
template <class Wait, class Look>
int wait_with_mask(RankProcess& process, const sigset_t& mask, Wait&& wait, Look&& look) {
  RankSignals& signals = process.signals();
  std::optional<os::SignalBlock> block(std::in_place);
  WaitMask during(signals, &mask);
  int answer = signals.has_work() ? look() : wait(block->before());
  int error = errno;
  if (answer == 0 && signals.has_work()) {
    answer = -1;
    error = EINTR;
  } else {
    during.restore();
  }
  block.reset();
  signals.run_pending(RankSignals::Interrupts::program, nullptr);
  errno = error;
  return answer;
}

}  // namespace sorrel::program
