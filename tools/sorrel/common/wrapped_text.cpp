#include "tools/sorrel/common/wrapped_text.hpp"

namespace sorrel::tool {

std::string wrapped_text(std::string_view text, std::size_t indent, std::size_t width) {
  constexpr std::string_view blanks = " \n";
  std::string lines;
  std::string line;
  for (;;) {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find_first_of(blanks));
    text.remove_prefix(word.size());
    if (!line.empty() && line.size() + 1 + word.size() > width) {
      lines += line + "\n";
      line.clear();
    }
    line += line.empty() ? std::string(indent, ' ') : " ";
    line += word;
  }
  return lines + line + "\n";
}

}  // namespace sorrel::tool
