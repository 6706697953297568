//! Wrappers - programs that start the MPI program: env, nice, a debugger, a shell script.
//!
//! A wrapper is a script, or an executable that is not linked with MPI, unless it may be ranks
//! (ProgramReport::may_be_ranks) and starts no programs. It runs unchanged, once in each process of
//! the job. The program below it is searched among the wrapper's arguments, if it can start
//! programs. A program that these do not name (`sh -c ./app`, a script) is inspected when it starts
//! (src/runtime/wrapped_job.hpp).
#pragma once

#include <span>
#include <string>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/inspect/preflight.hpp"

namespace sorrel::tool {

/// The report of the program that becomes the ranks: the first argument, or, if that is a
/// wrapper, the first of its arguments that names an MPI program. `path` is what `run` starts.
[[nodiscard]] ProgramReport inspect_arguments(Arguments arguments,
                                              const Installation& installation,
                                              const LibraryOptions& libraries);

/// `sorrel preflight PROGRAM`, which src/early starts below a wrapper: prints the names of the
/// program's private libraries as a field of the job's text.
/// `sorrel preflight PROGRAM RANKS WRAPPER`, which the library starts: prints why this program
/// cannot have several ranks in a process below that wrapper, or nothing.
int preflight_command(Arguments arguments);

}  // namespace sorrel::tool
