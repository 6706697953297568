#include "tools/sorrel/common/numbers.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <fmt/core.h>
#include <limits>

namespace sorrel::tool {

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const bool digits_only = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c >= '0' && c <= '9';
  });
  if (!digits_only) return std::nullopt;
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec == std::errc::result_out_of_range) return std::numeric_limits<std::uint64_t>::max();
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto value = parse_count(text.substr(0, digits));
  if (!value) return std::nullopt;
  std::string unit;
  for (const char letter : text.substr(digits)) {
    unit += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  int shift = 0;
  if (!unit.empty() && unit != "b") {
    const std::size_t power = std::string_view("kmg").find(unit[0]);
    const std::string_view rest = std::string_view(unit).substr(1);
    if (power == std::string_view::npos || (rest != "" && rest != "b" && rest != "ib"))
      return std::nullopt;
    shift = 10 * (static_cast<int>(power) + 1);
  }
  if (*value > std::numeric_limits<std::uint64_t>::max() >> shift) return std::nullopt;
  return *value << shift;
}

std::string format_size(std::uint64_t size_bytes) {
  constexpr const char* units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (unit < 4 && size_bytes != 0 && size_bytes % 1024 == 0) {
    size_bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", size_bytes, units[unit]);
}

}  // namespace sorrel::tool
