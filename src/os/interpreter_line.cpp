#include "os/interpreter_line.hpp"

#include <algorithm>

namespace sorrel::os {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Takes the first word from the text.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

}  // namespace

std::vector<std::string> interpreter_arguments(std::string_view line) {
  std::string_view rest = trimmed(line);
  std::string_view program = take_word(rest);
  if (program == "env" || program.ends_with("/env")) {
    if (rest.substr(0, 2) == "-S") rest = trimmed(rest.substr(2));
    program = take_word(rest);
  }
  if (program.empty()) return {};
  std::vector<std::string> arguments{std::string(program)};
  // The system passes the rest as one argument.
  if (!rest.empty()) arguments.emplace_back(rest);
  return arguments;
}

}  // namespace sorrel::os
