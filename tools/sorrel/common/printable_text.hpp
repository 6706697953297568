//! Printable text - bytes from command lines and files, made fit for a terminal. Pure.
#pragma once

#include <string>
#include <string_view>

namespace sorrel::tool {

/// `text` in one line: control characters and bytes that are not UTF-8 are written as \n, \t or
/// \xHH.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace sorrel::tool
