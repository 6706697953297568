#include "tools/sorrel/common/diagnostic.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#include "base/printable.hpp"

namespace sorrel::tool {

namespace {

/// Levenshtein's distance: the number of letters to insert, delete or replace.
std::size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t column = 0; column < row.size(); ++column)
    row[column] = column;
  for (std::size_t line = 1; line <= left.size(); ++line) {
    std::size_t diagonal = row[0];
    row[0] = line;
    for (std::size_t column = 1; column <= right.size(); ++column) {
      const std::size_t replaced = diagonal + (left[line - 1] == right[column - 1] ? 0 : 1);
      diagonal = row[column];
      row[column] = std::min({replaced, row[column] + 1, row[column - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

void print_diagnostic(std::string_view text) {
  const std::string line = fmt::format("sorrel: {}\n", printable(text));
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool has_colours(int descriptor) {
  const char* const no_color = std::getenv("NO_COLOR");
  return isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0');
}

void print_red(std::string_view text) {
  if (!has_colours(STDERR_FILENO)) return print_diagnostic(text);
  const std::string line = fmt::format("\033[31msorrel: {}\033[0m\n", printable(text));
  std::fflush(stdout);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

std::string near_match(std::string_view word, std::span<const std::string> allowed) {
  std::string best;
  std::size_t best_distance = std::min<std::size_t>(3, word.size() / 3 + 1) + 1;
  for (const std::string& candidate : allowed) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace sorrel::tool
