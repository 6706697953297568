//! PythonLines - the lines of a program in Python that led to a call of MPI.
//!
//! CPython writes them itself, for its faulthandler, without its lock and without a call of Python
//! code. The function is exported by CPython 3.9 to 3.12; elsewhere there are no lines.
#pragma once

#include <cstddef>
#include <span>

#include "symbols/source_lines.hpp"

namespace sorrel::runtime {

/// The functions in Python of the calling thread, or of the rank that it runs, the innermost first,
/// as "main (script.py:12)"; returns how many. 0 in a thread that runs no Python. Not in a signal
/// handler.
[[gnu::weak]] std::size_t describe_python(std::span<symbols::SourceText> texts);

/// The functions of the main thread of another rank of this process, which waits. `code`: an
/// address in the rank's own image of the program or of a library. 0 if it is elsewhere.
[[gnu::weak]] std::size_t describe_python_of(const void* code,
                                             std::span<symbols::SourceText> texts);

/// False where both functions are null: in programs that are linked without src/program, such as
/// unit tests.
[[nodiscard]] inline bool has_python_lines() {
  return &describe_python != nullptr;
}

}  // namespace sorrel::runtime
