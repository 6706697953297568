#include "report/memory_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

#include "base/text.hpp"
#include "report/wait_groups.hpp"

namespace sorrel::report {

namespace {

constexpr std::size_t row_count_max = 8;
constexpr std::size_t rank_runs_max = 4;

/// The figures of a row, as text: ranks with the same text are one row.
std::string figures_of(const RankMemory& memory) {
  return text_of("%10s  %10s  %10s\n", text_of_bytes(memory.in_use).c_str(),
                 text_of_bytes(memory.held).c_str(), text_of_bytes(memory.most).c_str());
}

struct Row {
  std::string ranks;
  std::string figures;
};

std::string text_of_lines(const std::vector<Row>& rows) {
  std::size_t width = 6;
  for (const Row& row : rows)
    width = std::max(width, row.ranks.size());
  std::string text;
  for (const Row& row : rows)
    text += text_of("%*s  ", static_cast<int>(width), row.ranks.c_str()) + row.figures;
  return text;
}

struct Group {
  std::uint64_t held;
  std::string figures;
  std::vector<std::int32_t> ranks;
};

/// The groups, those that hold most first.
std::vector<Group> groups_of(const std::vector<RankMemory>& ranks) {
  std::vector<Group> groups;
  for (const RankMemory& memory : ranks)
    groups.push_back({.held = memory.held, .figures = figures_of(memory), .ranks = {memory.rank}});
  std::ranges::stable_sort(groups, std::ranges::greater{}, &Group::held);
  std::vector<Group> merged;
  std::map<std::string, std::size_t> index_of;
  for (Group& group : groups) {
    const auto [found, is_new] = index_of.try_emplace(group.figures, merged.size());
    if (is_new) {
      merged.push_back(std::move(group));
    } else {
      merged[found->second].ranks.push_back(group.ranks.front());
    }
  }
  for (Group& group : merged)
    std::ranges::sort(group.ranks);
  return merged;
}

}  // namespace

FixedText<24> text_of_bytes(std::uint64_t bytes) {
  static constexpr std::array units = {"KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  std::uint64_t scale = 1024;
  while (unit + 1 < units.size() && bytes >= scale * 1024) {
    scale *= 1024;
    ++unit;
  }
  // Rounded; a tenth where there is one digit before the point.
  const std::uint64_t tenths = (bytes / 64 * 10 + scale / 128) / (scale / 64);
  FixedText<24> text;
  if (unit == 0 || tenths >= 100) {
    text.add((bytes + scale / 2) / scale);
  } else {
    text.add(tenths / 10).add(".").add(tenths % 10);
  }
  text.add(" ").add(units[unit]);
  return text;
}

std::string memory_rows(const std::vector<RankMemory>& ranks) {
  if (ranks.empty()) return {};
  const std::vector<Group> groups = groups_of(ranks);
  std::vector<Row> rows = {
      {"rank", text_of("%10s  %10s  %10s  of heap memory\n", "in use", "held", "at most")}};
  const std::size_t count = std::min(groups.size(), row_count_max);
  for (std::size_t i = 0; i < count; ++i)
    rows.push_back({text_of_ranks(groups[i].ranks, rank_runs_max), groups[i].figures});
  std::size_t more = 0;
  for (std::size_t i = count; i < groups.size(); ++i)
    more += groups[i].ranks.size();
  RankMemory sum;
  for (const RankMemory& memory : ranks) {
    sum.in_use += memory.in_use;
    sum.held += memory.held;
    sum.most += memory.most;
  }
  if (ranks.size() > 1) rows.push_back({"all", figures_of(sum)});
  std::string text = text_of_lines(rows);
  if (more > 0) text += text_of("        %zu more ranks hold less\n", more);
  return text;
}

}  // namespace sorrel::report
