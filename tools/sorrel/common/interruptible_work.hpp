//! InterruptibleWork - long work of a command that ends at once when the user interrupts it.
#pragma once

#include <functional>

namespace sorrel::tool {

/// Runs `work` in a process of its own, and returns its status. SIGINT, SIGTERM, SIGHUP and
/// SIGQUIT to the caller kill this process; the caller then calls undo(), and gets the signal: at
/// once, or where the signal is blocked when that ends. Where no process can be started, work()
/// runs in the caller.
[[nodiscard]] int run_interruptibly(const std::function<int()>& work,
                                    const std::function<void()>& undo);

}  // namespace sorrel::tool
