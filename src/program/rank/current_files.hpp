//! The files of the calling rank, for functions that open one: in a job whose ranks may pause, a
//! file that a rank opens gets a descriptor of the rank's own numbers (state/rank_files.hpp).
//!
//! Only what the rank's own code opens: a library that serves all ranks keeps its files when a rank
//! goes. `caller` is a return address of that code.
#pragma once

#include <cstdio>

namespace sorrel::program {

/// The descriptor under which the file goes on; the same one if it is negative, or no file of a
/// rank. May suspend.
[[nodiscard]] int adopt_file(int descriptor, const void* caller);

/// Lets a stream, which may be null, go on under such a descriptor.
void adopt_file(FILE* stream, const void* caller);

}  // namespace sorrel::program
