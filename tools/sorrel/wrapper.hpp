//! Wrappers - programs that start the program with MPI: env, nice, a debugger, a shell's script.
//!
//! A wrapper is a script, or an executable that is not linked with MPI and can start other
//! programs. It runs as it is, once in each process of the job. The program below it is looked for
//! among the wrapper's words; what the words do not name (`sh -c ./app`, a script) is inspected
//! when it starts (src/runtime/wrapped_job.hpp).
#pragma once

#include <span>
#include <string>

#include "tools/sorrel/command.hpp"
#include "tools/sorrel/preflight.hpp"

namespace sorrel::tool {

/// The report of the program that becomes the ranks: of the first word's, or where that is a
/// wrapper, of the first of its words that names a program with MPI. `path` is what `run` starts.
[[nodiscard]] ProgramReport inspect_words(Arguments words,
                                          const Installation& installation,
                                          std::span<const std::string> declared);

/// `sorrel preflight PROGRAM RANKS WRAPPER`, which the library starts: prints why this program
/// cannot have several ranks in a process below that wrapper, or nothing.
int preflight_command(Arguments arguments);

}  // namespace sorrel::tool
