//! The compiler wrapper's decisions: which compiler, and which arguments before and after the
//! user's.
//!
//! Pure. The user's arguments keep their bytes and their order; no shell is involved.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

enum class Language { c, cxx, fortran };

/// What a wrapper adds to a compiler's arguments.
struct WrapperFlags {
  std::vector<std::string> compile;  ///< before the user's: include folders
  std::vector<std::string>
      link;  ///< after the user's: library, its folder, and the way to it at run time
};

[[nodiscard]] WrapperFlags wrapper_flags(const Installation& installation);

/// Whether the compiler, given these arguments, will call the linker.
[[nodiscard]] bool will_link(std::span<const std::string> words);

/// Whether the compiler, given these arguments, has a file to compile, not only objects to link.
[[nodiscard]] bool will_compile(std::span<const std::string> words);

/// compiler + own flags + the user's arguments, in the order that works.
[[nodiscard]] std::vector<std::string> compiler_arguments(const std::vector<std::string>& compiler,
                                                          std::span<const std::string> words,
                                                          const WrapperFlags& flags);

}  // namespace sorrel::tool
