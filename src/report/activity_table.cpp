#include "report/activity_table.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "report/memory_rows.hpp"
#include "report/wait_rows.hpp"

namespace sorrel::report {

std::string state_counts(const WaitTable& table) {
  std::string text;
  const auto add = [&](std::int64_t count, const char* name) {
    if (count > 0)
      text += text_of("%s%d %s", text.empty() ? "" : ", ", static_cast<int>(count), name);
  };
  const auto count_of = [&](const char* state) {
    return std::ranges::count_if(
        table.waits(), [&](const RankWait& wait) { return wait.state.starts_with(state); });
  };
  add(count_of(state_running), "running");
  add(count_of(state_blocked), "blocked in a system call");
  add(count_of(state_ready), "ready to run");
  add(count_of(state_waiting), "waiting");
  add(count_of(state_ended), "ended");
  add(table.unknown_count(), "not known");
  return text;
}

RankWait blocked_rank(std::int32_t rank, std::string call) {
  return {.rank = rank,
          .state = state_blocked,
          .call = std::move(call),
          .peer = "-",
          .tag = "-",
          .comm = "-",
          .place = "-",
          .explanation = {},
          .awaited = {},
          .collective = {}};
}

std::string activity_table(const WaitTable& table,
                           const std::string& ranks,
                           std::int32_t rank_count,
                           const RowChoice& choice) {
  std::string text = "sorrel: " + ranks + ": " + state_counts(table) + "\n";
  if (!table.waits().empty()) text += wait_rows(table.waits(), rank_count, choice);
  return text + memory_rows(table.memory());
}

}  // namespace sorrel::report
