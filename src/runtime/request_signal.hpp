//! RequestSignal - SIGUSR2 from outside of the process is a request to this library: to save the
//! job (checkpoint/save_requests.hpp), or to give up the process (moves/give_up.hpp).
#pragma once

namespace sorrel::runtime {

/// Once, before any rank runs: `on_request` is called in the signal's handler, unless the program
/// or its parent has another action for the signal. One that the program sends to itself, and one
/// to a child of it, has its default action.
void watch_requests(void (*on_request)());

}  // namespace sorrel::runtime
