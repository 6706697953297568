//! Interpreters - programs whose users' code is a script: what they load at run time cannot be made
//! private to a rank, so every rank needs a process of its own.
//!
//! Recognised by the file's name, since nothing in the file says it. Pure, but for the look at a
//! script's first line that the caller has read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sorrel::tool {

/// Whether a file of this name is a language's interpreter: "python3.11", "/usr/bin/julia". Shells
/// are none: they start programs and do not call MPI.
[[nodiscard]] bool is_interpreter(std::string_view path);

/// The words that the system would put before a script's path: the interpreter and its one
/// argument. `line` is the first line without "#!". /usr/bin/env is looked through, because a
/// process that only starts the interpreter would take the rank's place. Empty: nothing is named.
[[nodiscard]] std::vector<std::string> interpreter_words(std::string_view line);

}  // namespace sorrel::tool
