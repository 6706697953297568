//! Interpreters - programs whose users' code is a script. What they load at run time may not be
//! privatized for a rank, so every rank needs a process of its own. Interpreters of Python are
//! treated apart (python_program.hpp).
//!
//! Recognised by the file's name, since the file's contents do not show it. Pure; the caller reads
//! a script's first line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sorrel::tool {

/// Whether a file of this name is a language's interpreter: "python3.11", "/usr/bin/julia". Shells
/// are not: they start programs and do not call MPI.
[[nodiscard]] bool is_interpreter(std::string_view path);

/// The arguments that the system would put before a script's path: the interpreter and its one
/// argument. `line` is the first line without "#!". /usr/bin/env is resolved, because a process
/// that only starts the interpreter would occupy the rank's process. Empty: no interpreter is
/// named.
[[nodiscard]] std::vector<std::string> interpreter_arguments(std::string_view line);

}  // namespace sorrel::tool
