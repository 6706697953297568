//! The standard streams of the calling rank, for functions that take a stream or use a standard
//! one.
#pragma once

#include <cstdio>

namespace sorrel::program {

/// The stream that `stream` means for the code on the calling thread.
[[nodiscard]] FILE* own_stream(FILE* stream);

/// The caller's standard stream for `live` (stdin, stdout or stderr of the C library). The program
/// may have set its own variable.
[[nodiscard]] FILE* standard_stream(FILE*& live);

}  // namespace sorrel::program
