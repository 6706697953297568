#include "tools/sorrel/env/shell_settings.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>

namespace sorrel::tool {

namespace {

/// The parts between colons; an empty one has a meaning in PATH and MANPATH, and stays.
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    parts.push_back(list.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

/// In single quotes, as all three shells read them; a quote itself, and csh's mark of history,
/// behind a backslash.
std::string quoted(const std::string& text, Shell shell) {
  std::string result = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      result += "'\\''";
    } else if (shell == Shell::fish && letter == '\\') {
      result += "\\\\";
    } else if (shell == Shell::csh && letter == '!') {
      result += "\\!";
    } else {
      result += letter;
    }
  }
  return result + "'";
}

std::string command_of(const std::string& name, const std::string& value, Shell shell) {
  switch (shell) {
    case Shell::posix:
      return fmt::format("export {}={}", name, quoted(value, shell));
    case Shell::csh:
      return fmt::format("setenv {} {}", name, quoted(value, shell));
    case Shell::fish: {
      // PATH and the like are lists there; others are texts.
      std::string words;
      for (const std::string& part : parts_of(value))
        words += " " + quoted(part, shell);
      const bool is_list = name.ends_with("PATH") && !name.starts_with("CMAKE");
      return fmt::format("set -gx {}{}", name, is_list ? words : " " + quoted(value, shell));
    }
  }
  return "";
}

}  // namespace

std::string value_with(const FolderVariable& variable, const char* value) {
  const std::string before = value == nullptr ? "" : value;
  std::vector<std::string> parts = parts_of(before);
  std::vector<std::string> result = variable.first;
  for (const std::string& folder : variable.present) {
    if (std::ranges::find(parts, folder) == parts.end()) result.push_back(folder);
  }
  for (const std::string& folder : variable.first)
    std::erase(parts, folder);
  // man reads an empty part as the folders that it knows by itself.
  const bool is_unset = before.empty() && variable.name != "MANPATH";
  if (!is_unset) result.insert(result.end(), parts.begin(), parts.end());
  return fmt::format("{}", fmt::join(result, ":"));
}

std::string shell_settings(std::span<const FolderVariable> variables,
                           Shell shell,
                           const std::function<const char*(const char*)>& lookup) {
  std::string text;
  for (const FolderVariable& variable : variables) {
    const char* before = lookup(variable.name.c_str());
    const std::string value = value_with(variable, before);
    if (before != nullptr && value == before) continue;
    text += command_of(variable.name, value, shell) + (shell == Shell::csh ? ";\n" : "\n");
  }
  return text;
}

}  // namespace sorrel::tool
