//! Printable text - bytes from command lines and files, made fit for a terminal and for JSON. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sorrel::tool {

/// Bytes of the UTF-8 character at the start of `text`; 0 if `text` is empty or does not begin
/// with one.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

/// Whether a UTF-8 character is a control character: C0, delete or C1.
[[nodiscard]] bool is_control(std::string_view character);

/// `text` in one line: control characters and bytes that are not UTF-8 are written as \n, \t or
/// \xHH.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace sorrel::tool
