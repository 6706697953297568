//! Printable text - what programs, files and command lines name, made fit for a terminal and for
//! one line of a report. Pure.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace sorrel {

/// Takes the next character of `text`, which is not empty, from its front, and returns it in a
/// printable form: control characters and bytes that are not UTF-8 are written as \n, \t or \xHH,
/// into `space`. Never allocates.
[[nodiscard]] std::string_view take_printable(std::string_view& text, std::array<char, 8>& space);

/// `text` in one line.
[[nodiscard]] std::string printable(std::string_view text);

/// Adds `text` in one line to a text with add(std::string_view), as in a signal handler.
template <class Text>
Text& add_printable(Text& to, std::string_view text) {
  std::array<char, 8> space{};
  while (!text.empty())
    to.add(take_printable(text, space));
  return to;
}

}  // namespace sorrel
