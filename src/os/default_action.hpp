//! take_default_action - a signal handler has the signal do what it does without a handler.
#pragma once

#include <csignal>

namespace sorrel::os {

/// In the signal's handler. The signal, which is blocked there, is delivered when the handler
/// returns.
inline void take_default_action(int signal_number) {
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace sorrel::os
