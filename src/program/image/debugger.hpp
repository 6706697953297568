//! Debuggers see every privatized image, with symbols, lines and breakpoints, as if each were a
//! library of a further namespace.
//!
//! Called once, by the thread that made the images, before any rank runs. The loader's public
//! record (r_debug, version 2 since glibc 2.35) is a chain of namespaces. This function appends one
//! namespace, which is never removed. gdb (13 and later) reads the chain when it attaches and when
//! a library is unloaded. If a debugger is attached already, a library is unloaded for this
//! purpose. Cost without a debugger: one list entry per image. tools/gdb/sorrel_gdb.py adds
//! commands for a rank's globals.
#pragma once

#include "program/image/image_slab.hpp"

namespace sorrel::program {

/// The first `count` images.
void register_with_debugger(const ImageSlab& slab, int count);

}  // namespace sorrel::program
