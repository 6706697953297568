//! LibrarySearch - finds the shared libraries that a program needs, as the loader does.
//!
//! Any thread. Reads files only; runs and loads nothing. Does not search for variants for newer
//! processors (glibc-hwcaps).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "os/elf_file.hpp"

namespace sorrel::os {

/// Search path of the loader, in order; its cache (/etc/ld.so.cache) comes between the two lists.
struct LibrarySearch {
  std::vector<std::string> before_runpath;  ///< LD_LIBRARY_PATH
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

/// The loader's search path with this value of LD_LIBRARY_PATH, null if it is not set. An empty
/// part is the working directory.
[[nodiscard]] LibrarySearch search_with(const char* library_path);

/// Files that are built for another machine: the loader passes over them in the folders that it
/// searches.
enum class OtherMachines { pass_over, accept };

/// The file that the loader would map for `soname`, needed by `needer` (the file at `needer_path`);
/// "" if there is none.
[[nodiscard]] std::string find_library(std::string_view soname,
                                       const ElfFile& needer,
                                       const std::string& needer_path,
                                       const LibrarySearch& search,
                                       OtherMachines others = OtherMachines::pass_over);

/// The path of `soname` in the loader's cache, or "". `cache` is the file's bytes.
[[nodiscard]] std::string find_in_cache(std::string_view soname, std::string_view cache);

/// Splits "a:b:c"; empty parts are left out.
[[nodiscard]] std::vector<std::string> split_path(std::string_view list, char separator = ':');

/// The folder part of a path, "." if it has none.
[[nodiscard]] std::string folder_of(const std::string& path);

[[nodiscard]] bool is_file(const std::string& path);

}  // namespace sorrel::os
