//! The first line of a script, which names its interpreter. Pure; the caller reads the line
//! (elf_file.hpp).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sorrel::os {

/// The arguments that the system would put before a script's path: the interpreter and its one
/// argument. `line` is the first line without "#!". /usr/bin/env is resolved, because a process
/// that only starts the interpreter would occupy the rank's process: then the interpreter is a name
/// to look for. Empty: no interpreter is named.
[[nodiscard]] std::vector<std::string> interpreter_arguments(std::string_view line);

}  // namespace sorrel::os
