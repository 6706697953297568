#include "report/wait_rows.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "report/wait_groups.hpp"

namespace sorrel::report {

namespace {

constexpr std::size_t read_runs_max = 4;

/// The cells of a line, the first two as wide as the widest of their columns.
struct Line {
  std::string ranks;
  std::string state;
  std::string rest;
};

std::string rest_of(const RankWait& wait) {
  std::string text = text_of("%-18s %-16s %8s  %-24s %s\n", wait.call.c_str(), wait.peer.c_str(),
                             wait.tag.c_str(), wait.comm.c_str(), wait.place.c_str());
  if (!wait.explanation.empty()) text += text_of("        %s\n", wait.explanation.c_str());
  return text;
}

std::string text_of_lines(const std::vector<Line>& lines, bool has_states) {
  std::size_t ranks_width = 6;
  std::size_t state_width = 0;
  for (const Line& line : lines) {
    ranks_width = std::max(ranks_width, line.ranks.size());
    state_width = std::max(state_width, line.state.size());
  }
  std::string text;
  for (const Line& line : lines) {
    text += text_of("%*s  ", static_cast<int>(ranks_width), line.ranks.c_str());
    if (has_states) text += text_of("%-*s  ", static_cast<int>(state_width), line.state.c_str());
    text += line.rest;
  }
  return text;
}

void sort(std::vector<WaitGroup>& groups, RowOrder order) {
  const auto sort_by = [&](auto&& key) { std::ranges::stable_sort(groups, {}, key); };
  switch (order) {
    case RowOrder::fewest_first:
      return;
    case RowOrder::by_rank:
      return sort_by([](const WaitGroup& group) { return group.ranks.front(); });
    case RowOrder::by_state:
      return sort_by([](const WaitGroup& group) { return group.wait.state; });
    case RowOrder::by_call:
      return sort_by([](const WaitGroup& group) { return group.wait.call; });
    case RowOrder::by_place:
      return sort_by([](const WaitGroup& group) { return group.wait.place; });
  }
}

}  // namespace

std::string wait_rows(const std::vector<RankWait>& waits,
                      std::int32_t rank_count,
                      const RowChoice& choice) {
  auto groups = wait_groups(waits, rank_count, choice.row_count_max);
  sort(groups, choice.order);
  const std::size_t count = std::min(groups.size(), choice.row_count_max);
  const bool has_states = !waits.empty() && !waits.front().state.empty();
  const char* call_heading = has_states ? "in" : "waits in";
  std::vector<Line> lines = {{.ranks = "rank",
                              .state = "state",
                              .rest = text_of("%-18s %-16s %8s  %-24s %s\n", call_heading, "for",
                                              "tag", "communicator", "at")}};
  for (std::size_t i = 0; i < count; ++i) {
    lines.push_back({.ranks = text_of_ranks(groups[i].ranks, read_runs_max),
                     .state = groups[i].wait.state,
                     .rest = rest_of(groups[i].wait)});
  }
  std::string text = text_of_lines(lines, has_states);
  std::size_t more = 0;
  for (std::size_t i = count; i < groups.size(); ++i)
    more += groups[i].ranks.size();
  if (more > 0) text += text_of("        … and %zu more ranks\n", more);
  return text;
}

}  // namespace sorrel::report
