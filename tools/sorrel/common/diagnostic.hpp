//! Diagnostics - one line on stderr that says what is wrong and what is allowed, and the exit
//! status with it.
//!
//! For the command line only; no function here is called after the program has been started.
#pragma once

#include <fmt/core.h>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "launch/exit_status.hpp"

namespace sorrel::tool {

/// Prints one line, "sorrel: …"; bytes of `text` that are not printable are escaped.
void print_diagnostic(std::string_view text);

/// Whether the descriptor is a terminal, and NO_COLOR is not set.
[[nodiscard]] bool has_colours(int descriptor);

/// print_diagnostic() in red, where stderr has colours: for what makes the rest of the output
/// doubtful.
void print_red(std::string_view text);

/// Prints "sorrel: …" and returns exit_invalid_input.
template <typename... Values>
[[nodiscard]] int report_error(fmt::format_string<Values...> format, Values&&... values) {
  print_diagnostic(fmt::format(format, std::forward<Values>(values)...));
  return exit_invalid_input;
}

/// The string of `allowed` that is nearest to `word`, or "" if none is near.
[[nodiscard]] std::string near_match(std::string_view word, std::span<const std::string> allowed);

}  // namespace sorrel::tool
