#include "runtime/checkpoint/layout.hpp"

#include <algorithm>
#include <string_view>

namespace sorrel::runtime {

namespace {

std::string take_line(std::string_view& text) {
  const std::string line(text.substr(0, text.find('\n')));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

}  // namespace

std::string layout_difference(const std::string& saved, const std::string& own) {
  std::string_view before = saved;
  std::string_view now = own;
  while (!before.empty() || !now.empty()) {
    const std::string was = take_line(before);
    const std::string is = take_line(now);
    if (was != is)
      return "then " + (was.empty() ? "nothing" : was) + ", now " + (is.empty() ? "nothing" : is);
  }
  return "";
}

}  // namespace sorrel::runtime
