//! find_exception_state() - where the C++ library keeps the exceptions of a thread.
#pragma once

namespace sorrel::core {

struct ExceptionState;

using GetExceptionState = ExceptionState* (*)();

/// The function that returns the state of the calling thread: of the C++ library of the user's
/// program, not of the one linked into this library, since the program's exceptions cross a switch.
/// Null if the process has none. Allocates.
[[nodiscard]] GetExceptionState find_exception_state();

}  // namespace sorrel::core
