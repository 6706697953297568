//! A command as a line for a shell.
#pragma once

#include <span>
#include <string>

namespace sorrel::tool {

/// The arguments joined to a line that a shell splits back into them.
[[nodiscard]] std::string shell_line(std::span<const std::string> words);

}  // namespace sorrel::tool
