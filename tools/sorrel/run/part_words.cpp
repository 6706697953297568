#include "tools/sorrel/run/part_words.hpp"

#include <algorithm>
#include <fmt/core.h>
#include <string_view>

#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/run/run_options.hpp"

namespace sorrel::tool {

namespace {

/// The options and the program of a part after the first.
Result<PartWords> read_part(Arguments words, std::size_t number) {
  RunOptions options;
  const auto app = make_run_app(options);
  const SplitArguments split = split_arguments(*app, words);
  if (!split.error.empty()) return Error{fmt::format("program {}: {}", number, split.error)};
  PartWords part{.ranks = {}, .program = split.program};
  constexpr std::string_view ranks_option = "--ranks=";
  for (const std::string& option : split.options) {
    if (!option.starts_with(ranks_option)) {
      return Error{fmt::format(
          "program {}: {} is for the whole job; give it before the first program (a program after "
          "':' takes -n only)",
          number, option.substr(0, option.find('=')))};
    }
    part.ranks = option.substr(ranks_option.size());
  }
  return part;
}

}  // namespace

Result<std::vector<PartWords>> split_parts(Arguments words, const std::string& ranks) {
  const auto is_separator = [](const char* word) { return std::string_view(word) == ":"; };
  std::vector<PartWords> parts;
  while (true) {
    const auto end = std::find_if(words.begin(), words.end(), is_separator);
    const auto length = static_cast<std::size_t>(end - words.begin());
    PartWords part{.ranks = ranks, .program = words.first(length)};
    if (!parts.empty()) {
      Result<PartWords> read = read_part(words.first(length), parts.size() + 1);
      if (!read.has_value()) return Error{read.error()};
      part = std::move(read).value();
    }
    const bool is_last = end == words.end();
    if (part.program.empty())
      return Error{fmt::format("no program given {} a ':'", is_last ? "after" : "before")};
    parts.push_back(part);
    if (is_last) break;
    words = words.subspan(length + 1);
  }
  for (std::size_t i = 0; parts.size() > 1 && i < parts.size(); ++i) {
    if (parts[i].ranks.empty()) {
      return Error{fmt::format("program {}, {}, needs -n N: its number of ranks", i + 1,
                               parts[i].program.front())};
    }
  }
  return parts;
}

}  // namespace sorrel::tool
