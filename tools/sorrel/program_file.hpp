//! ProgramFile - finds a program as a shell does.
#pragma once

#include <string>

namespace sorrel::tool {

/// The path of `name`: unchanged if it has a slash, else from the folders of PATH, else from the
/// current folder (as mpiexec does). "" if there is no such file.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace sorrel::tool
