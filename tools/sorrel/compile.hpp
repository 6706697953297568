//! The compiler wrapper's decisions: which compiler, with which words around the user's own.
//!
//! Pure. The user's words are kept byte for byte and in order; nothing passes through a shell.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tools/sorrel/installation.hpp"

namespace sorrel::tool {

enum class Language { c, cxx };

/// What a wrapper adds to a compiler's words.
struct WrapperFlags {
  std::vector<std::string> compile;  ///< in front of the user's: include folders
  std::vector<std::string>
      link;  ///< after the user's: library, its folder, and the way to it at run time
};

[[nodiscard]] WrapperFlags wrapper_flags(const Installation& installation);

/// Whether the compiler, given these words, will call the linker.
[[nodiscard]] bool will_link(std::span<const std::string> words);

/// Whether the compiler, given these words, has something to compile: not only objects to link.
[[nodiscard]] bool will_compile(std::span<const std::string> words);

/// compiler + our flags + the user's words, in the order that works.
[[nodiscard]] std::vector<std::string> compiler_words(const std::vector<std::string>& compiler,
                                                      std::span<const std::string> words,
                                                      const WrapperFlags& flags);

/// Words joined so that a shell reads them back.
[[nodiscard]] std::string shell_line(std::span<const std::string> words);

}  // namespace sorrel::tool
