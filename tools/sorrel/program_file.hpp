//! ProgramFile - finds a program the way a shell does.
#pragma once

#include <string>

namespace sorrel::tool {

/// The path of `name`: as it is if it has a slash, else from the folders of PATH, else from the
/// current folder (as mpiexec does). "" if there is no such file.
[[nodiscard]] std::string find_program(const std::string& name);

}  // namespace sorrel::tool
