//! OwnMark - the mark of this process (launch/process_mark.hpp), kept up to date.
#pragma once

#include <sys/types.h>

#include "launch/process_mark.hpp"

namespace sorrel::runtime {

/// Once, at the start: takes the variable out of the environment. Without one, as in a program
/// that `sorrel run` has not started, the process has no mark, and what follows has no effect.
void take_mark_from_environment();

/// One thread at a time calls these two.
void mark_request_handler(launch::RequestHandler handler);
void mark_reporting_thread(pid_t thread);

}  // namespace sorrel::runtime
