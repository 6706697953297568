//! end_process - the end of the process without a word to the C library, for signal handlers: its
//! `_exit` may be another one's (program/exit.cpp), and looking up the real one takes a lock.
#pragma once

namespace sorrel::os {

[[noreturn]] void end_process(int status);

}  // namespace sorrel::os
