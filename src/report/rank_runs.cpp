#include "report/rank_runs.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace sorrel::report {

void append(RankRuns& runs, std::int32_t rank) {
  if (!runs.empty() && runs.back().last + 1 == rank) {
    runs.back().last = rank;
  } else {
    runs.push_back({.first = rank, .last = rank});
  }
}

std::int32_t rank_count_of(const RankRuns& runs) {
  std::int32_t count = 0;
  for (const RankRun& run : runs)
    count += run.last - run.first + 1;
  return count;
}

std::string as_field(const RankRuns& runs) {
  std::string text;
  for (const RankRun& run : runs)
    text += text_of("%d-%d,", run.first, run.last);
  return text;
}

RankRuns runs_in(std::string_view field) {
  RankRuns runs;
  while (!field.empty()) {
    std::string_view run = take_field(field, ',');
    const auto first = number_in<std::int32_t>(take_field(run, '-'));
    const auto last = run.empty() ? first : number_in<std::int32_t>(run);
    if (first && last) runs.push_back({.first = *first, .last = *last});
  }
  return runs;
}

std::string as_field(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

std::string_view take_field(std::string_view& line, char separator) {
  const std::string_view field = line.substr(0, line.find(separator));
  line.remove_prefix(std::min(field.size() + 1, line.size()));
  return field;
}

}  // namespace sorrel::report
