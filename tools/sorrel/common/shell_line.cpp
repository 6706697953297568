#include "tools/sorrel/common/shell_line.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/ranges.h>
#include <string_view>
#include <vector>

namespace sorrel::tool {

std::string shell_line(std::span<const std::string> words) {
  constexpr std::string_view harmless = "-+=_./:,@%^";
  std::vector<std::string> quoted;
  for (const std::string& word : words) {
    const bool is_plain = !word.empty() && std::all_of(word.begin(), word.end(), [&](char letter) {
      return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
             harmless.find(letter) != harmless.npos;
    });
    if (is_plain) {
      quoted.push_back(word);
      continue;
    }
    std::string text = "'";
    for (const char letter : word) {
      if (letter == '\'') {
        text += "'\\''";
      } else {
        text += letter;
      }
    }
    quoted.push_back(text + "'");
  }
  return fmt::format("{}", fmt::join(quoted, " "));
}

}  // namespace sorrel::tool
