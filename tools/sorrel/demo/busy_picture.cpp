#include "tools/sorrel/demo/busy_picture.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <iterator>
#include <map>

namespace sorrel::tool {

namespace {

/// Numbers of 256-colour terminals; neighbours differ.
constexpr int colours[] = {39, 208, 71, 170, 220, 37, 203, 105, 149, 173, 75, 213};
constexpr const char* blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr char plain_blocks[] = {' ', '.', ':', '+', '#'};

/// `share` of [0, 1] as an index below `count`; what is not 0 is at least 1.
std::size_t level(double share, std::size_t count) {
  if (share <= 0) return 0;
  const auto index = static_cast<std::size_t>(std::lround(share * static_cast<double>(count - 1)));
  return std::clamp<std::size_t>(index, 1, count - 1);
}

}  // namespace

std::vector<std::vector<BusyCell>> busy_cells(std::span<const BusySpan> spans,
                                              std::span<const int> threads,
                                              std::int64_t begin_ns,
                                              std::int64_t column_ns,
                                              std::size_t columns) {
  // By row and column, the time of each rank.
  std::vector<std::vector<std::map<int, std::int64_t>>> times(
      threads.size(), std::vector<std::map<int, std::int64_t>>(columns));
  const std::int64_t end_ns = begin_ns + column_ns * static_cast<std::int64_t>(columns);
  for (const BusySpan& span : spans) {
    const auto row = std::ranges::find(threads, span.thread) - threads.begin();
    if (row == std::ssize(threads)) continue;
    std::int64_t from = std::max(span.begin_ns, begin_ns);
    const std::int64_t to = std::min(span.end_ns, end_ns);
    while (from < to) {
      const std::int64_t column = (from - begin_ns) / column_ns;
      const std::int64_t next = std::min(to, begin_ns + (column + 1) * column_ns);
      times[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)][span.rank] +=
          next - from;
      from = next;
    }
  }
  std::vector<std::vector<BusyCell>> rows;
  for (const auto& row : times) {
    auto& cells = rows.emplace_back();
    for (const auto& column : row) {
      BusyCell& cell = cells.emplace_back();
      std::int64_t most = 0;
      for (const auto& [rank, time] : column) {
        cell.share += static_cast<double>(time) / static_cast<double>(column_ns);
        if (time > most) cell.rank = rank;
        most = std::max(most, time);
      }
    }
  }
  return rows;
}

std::vector<int> threads_of(std::span<const BusySpan> spans) {
  std::map<int, std::int64_t> begins;
  for (const BusySpan& span : spans) {
    const auto [found, is_new] = begins.try_emplace(span.thread, span.begin_ns);
    found->second = std::min(found->second, span.begin_ns);
  }
  std::vector<int> threads;
  for (const auto& [thread, begin] : begins)
    threads.push_back(thread);
  std::ranges::sort(threads, {}, [&](int thread) { return begins[thread]; });
  return threads;
}

std::string row_text(std::span<const BusyCell> row, bool has_colours) {
  std::string text;
  for (const BusyCell& cell : row) {
    if (!has_colours) {
      text += plain_blocks[level(cell.share, std::size(plain_blocks))];
    } else if (cell.rank < 0) {
      text += ' ';
    } else {
      const auto colour = static_cast<std::size_t>(cell.rank) % std::size(colours);
      text += fmt::format("\033[38;5;{}m{}\033[0m", colours[colour],
                          blocks[level(cell.share, std::size(blocks))]);
    }
  }
  return text;
}

}  // namespace sorrel::tool
