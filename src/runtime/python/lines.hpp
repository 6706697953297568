//! PythonLines - the lines of a program in Python that led to a call of MPI, or that run.
//!
//! They are read from the memory of the rank's own interpreter (frames.hpp). Not null only
//! in programs that are linked with src/program: has_python_lines().
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "symbols/source_lines.hpp"

namespace sorrel::runtime {

/// `first`: nothing is done if a search has found nothing.
enum class PythonSearch : std::uint8_t { first, again };

/// Looks for an interpreter among the libraries of the process, unless one is known. Any thread,
/// but no signal handler.
[[gnu::weak]] void find_python(PythonSearch kind);

/// Whether one is known. Any thread, and signal handlers.
[[gnu::weak]] bool is_python_found();

/// Writes the functions in Python of the calling thread, or of the rank that it runs, the innermost
/// first, as "main (script.py:12)"; returns how many. 0 in a thread that runs no Python. Not in a
/// signal handler.
[[gnu::weak]] std::size_t describe_python(std::span<symbols::SourceText> texts);

/// What a rank's main thread does while its functions are read.
enum class PythonState : std::uint8_t {
  at_rest,     ///< It waits, or is in a call of this library.
  interrupted  ///< By the signal handler that reads.
};

/// Writes those of the main thread of a rank, by its index among those of this process. 0 before
/// find_python(). Safe in a signal handler.
[[gnu::weak]] std::size_t describe_python_of(std::size_t index,
                                             PythonState state,
                                             std::span<symbols::SourceText> texts);

/// Whether code of a rank is the interpreter's own. Safe in a signal handler.
[[gnu::weak]] bool is_code_of_python(std::size_t index, const void* address);

/// False where these functions are null: in programs that are linked without src/program, such as
/// unit tests.
[[nodiscard]] inline bool has_python_lines() {
  return &find_python != nullptr;
}

/// Whether ranks of this process may have lines in Python. Any thread, and signal handlers.
[[nodiscard]] inline bool has_python() {
  return has_python_lines() && is_python_found();
}

}  // namespace sorrel::runtime
