//! SignalStack - the stack on which a worker's thread reports a crash.
#pragma once

namespace sorrel::runtime {

/// Install or remove the calling thread's alternate stack.
void install_signal_stack();
void remove_signal_stack();

}  // namespace sorrel::runtime
