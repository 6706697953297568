//! Debuggers see every copy: symbols, lines and breakpoints, as if each were a library of a further
//! namespace.
//!
//! Called once, by the thread that made the copies, before any rank runs. The loader's public
//! record (r_debug, version 2 since glibc 2.35) is a chain of namespaces; ours is appended to it
//! and never removed. gdb (13 and later) reads the chain when it attaches and when a library has
//! been unloaded; the latter is staged when a debugger watches already. Cost without a debugger:
//! one list entry per copy. tools/gdb/sorrel_gdb.py adds commands for a rank's globals.
#pragma once

#include "program/copy_slab.hpp"

namespace sorrel::program {

void show_to_debugger(const CopySlab& slab);

}  // namespace sorrel::program
