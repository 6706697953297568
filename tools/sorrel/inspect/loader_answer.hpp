//! LoaderAnswer - what a program's dynamic loader says about the program's libraries.
//!
//! For libraries that os/library_search does not find: variants for newer processors
//! (glibc-hwcaps), $LIB, /etc/ld.so.preload. The loader maps the libraries in a process of its own
//! and runs nothing of them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "os/elf_file.hpp"

namespace sorrel::tool {

struct LoaderAnswer {
  std::map<std::string, std::string, std::less<>> paths;  ///< of the libraries, by their names
  std::string missing;  ///< the library that the loader does not find or cannot load, or ""
};

/// `folders`: what the loader searches as LD_LIBRARY_PATH. Empty if the loader cannot be asked.
[[nodiscard]] LoaderAnswer ask_loader(const os::ElfFile& program,
                                      const std::string& path,
                                      const std::vector<std::string>& folders);

/// The answer in the loader's words.
[[nodiscard]] LoaderAnswer parse_loader_answer(std::string_view text);

}  // namespace sorrel::tool
