//! Text in lines of limited width, for help. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sorrel::tool {

/// Columns of all help.
inline constexpr std::size_t help_width = 72;

/// The words of `text` in lines of at most `width` bytes, each indented by `indent` spaces and
/// ended by a newline. A longer word has a line of its own. "\n" if there is no word.
[[nodiscard]] std::string wrapped_text(std::string_view text,
                                       std::size_t indent,
                                       std::size_t width);

}  // namespace sorrel::tool
