//! Complaints - the one line on stderr that says what is wrong and what is allowed, and the exit
//! status with it.
//!
//! For the command line only; nothing here is called after the program has been started.
#pragma once

#include <fmt/core.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sorrel::tool {

inline constexpr int exit_refused = 2;  ///< bad input: nothing was started
inline constexpr int exit_cannot_execute =
    126;  ///< the system refused to start a file that looked right
inline constexpr int exit_not_found = 127;  ///< a compiler that is not there

/// One line, whatever bytes `text` quotes: what is not printable is escaped.
void print_complaint(std::string_view text);

/// Prints "sorrel: …" and returns exit_refused.
template <typename... Values>
[[nodiscard]] int refuse(fmt::format_string<Values...> format, Values&&... values) {
  print_complaint(fmt::format(format, std::forward<Values>(values)...));
  return exit_refused;
}

/// The word of `allowed` that `word` probably meant, or "" if none is near.
[[nodiscard]] std::string near_match(std::string_view word, std::span<const std::string> allowed);

}  // namespace sorrel::tool
