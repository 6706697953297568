//! ProgramFile - finds a program the way a shell does, and the shared libraries it needs the way
//! the loader does.
//!
//! Looks at files only; runs and loads nothing. Does not read /etc/ld.so.cache: a library known
//! only there is "not found" here, and left to the loader.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/elf_file.hpp"

namespace sorrel::tool {

/// The path of `name`: as it is if it has a slash, else from the folders of PATH, else from the
/// current folder (as mpiexec does). "" if there is no such file.
[[nodiscard]] std::string find_program(const std::string& name);

/// Where the loader looks for libraries, in its order.
struct LibrarySearch {
  std::vector<std::string> before_runpath;  ///< our folder, then LD_LIBRARY_PATH
  std::vector<std::string> last = {"/lib/x86_64-linux-gnu",
                                   "/usr/lib/x86_64-linux-gnu",
                                   "/lib/aarch64-linux-gnu",
                                   "/usr/lib/aarch64-linux-gnu",
                                   "/lib64",
                                   "/usr/lib64",
                                   "/lib",
                                   "/usr/lib",
                                   "/usr/local/lib"};
};

/// The file the loader would take for `soname` on behalf of `needer` (the file at `needer_path`),
/// or "".
[[nodiscard]] std::string find_library(std::string_view soname,
                                       const os::ElfFile& needer,
                                       const std::string& needer_path,
                                       const LibrarySearch& search);

/// Splits "a:b:c"; empty parts are left out.
[[nodiscard]] std::vector<std::string> split_path(std::string_view list);

/// The folder part of a path, "." if it has none.
[[nodiscard]] std::string folder_of(const std::string& path);

}  // namespace sorrel::tool
