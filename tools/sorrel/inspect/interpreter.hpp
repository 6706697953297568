//! Interpreters - programs whose users' code is a script. What they load at run time may not be
//! privatized for a rank, so every rank needs a process of its own. Interpreters of Python are
//! treated apart (python_program.hpp).
//!
//! Recognised by the file's name, since the file's contents do not show it. Pure.
#pragma once

#include <string_view>

namespace sorrel::tool {

/// Whether a file of this name is a language's interpreter: "python3.11", "/usr/bin/julia". Shells
/// are not: they start programs and do not call MPI.
[[nodiscard]] bool is_interpreter(std::string_view path);

/// Whether a file of this name is a command that starts an interpreter, whose file its words do not
/// name: "uv" of `uv run script.py`, "Rscript".
[[nodiscard]] bool starts_interpreter(std::string_view path);

}  // namespace sorrel::tool
