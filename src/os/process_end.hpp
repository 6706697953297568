//! end_process - ends the process without the C library, for signal handlers. Their `_exit` may be
//! an interposed one (program/libc/exit.cpp), and a lookup of the real one takes a lock.
#pragma once

namespace sorrel::os {

[[noreturn]] void end_process(int status);

}  // namespace sorrel::os
