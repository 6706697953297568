//! Comparison of texts without regard to the case of ASCII letters, whatever the locale.
#pragma once

#include <algorithm>
#include <string_view>

namespace sorrel {

[[nodiscard]] constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

[[nodiscard]] constexpr bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii_lower, ascii_lower);
}

}  // namespace sorrel
