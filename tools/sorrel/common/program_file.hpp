//! ProgramFile - finds a program as a shell does, and its arguments as the system takes them.
#pragma once

#include <string>
#include <vector>

namespace sorrel::tool {

/// The path of `name`: unchanged if it has a slash, else from the folders of PATH, else from the
/// current folder (as mpiexec does). "" if there is no such file.
[[nodiscard]] std::string find_program(const std::string& name);

/// The path without symbolic links; `path` itself if there is no such file.
[[nodiscard]] std::string real_path(const std::string& path);

/// One line: why the file that find_program() has found for `name` is no program; "" if it may be
/// one.
[[nodiscard]] std::string program_file_error(const std::string& name, const std::string& path);

/// One line: that the file is not executable; "" if it is.
[[nodiscard]] std::string executable_error(const std::string& name, const std::string& path);

/// `words` for execv(), with a null pointer at the end.
[[nodiscard]] std::vector<char*> pointers_to(std::vector<std::string>& words);

}  // namespace sorrel::tool
