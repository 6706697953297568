#include "tools/sorrel/cc/irix_directives.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>

namespace sorrel::tool {

namespace {

constexpr std::array<std::string_view, 9> fortran_endings = {".f",   ".for", ".ftn", ".f77", ".fpp",
                                                             ".f90", ".f95", ".f03", ".f08"};
constexpr std::array<std::string_view, 2> directives = {"$doacross", "$par"};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  return result;
}

/// The length of a directive that begins the line; 0: none.
std::size_t directive_length(std::string_view line) {
  if (line.empty() || std::string_view("cC*!").find(line.front()) == std::string_view::npos)
    return 0;
  const std::string rest = lower(line.substr(1));
  for (const std::string_view directive : directives) {
    if (!rest.starts_with(directive)) continue;
    const bool ends = rest.size() == directive.size() ||
                      std::isalnum(static_cast<unsigned char>(rest[directive.size()])) == 0;
    if (ends) return 1 + directive.size();
  }
  return 0;
}

}  // namespace

bool is_fortran_source(std::string_view name) {
  const std::string ending = lower(name.substr(std::min(name.rfind('.'), name.size())));
  return std::ranges::find(fortran_endings, ending) != fortran_endings.end();
}

std::optional<IrixDirective> first_irix_directive(std::istream& text) {
  int number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    if (const std::size_t length = directive_length(line); length != 0)
      return IrixDirective{.file = {}, .line = number, .name = line.substr(0, length)};
  }
  return std::nullopt;
}

std::optional<IrixDirective> first_irix_directive(std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (word.starts_with("-") || !is_fortran_source(word)) continue;
    std::ifstream text(word, std::ios::binary);
    if (auto found = first_irix_directive(text)) {
      found->file = word;
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace sorrel::tool
