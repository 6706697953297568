#include "runtime/activity_table.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "runtime/memory_rows.hpp"
#include "runtime/wait_rows.hpp"

namespace sorrel::runtime {

namespace {

/// "2 running, 6 waiting"
std::string counts(const WaitTable& table) {
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

}  // namespace

std::string activity_table(const WaitTable& table,
                           const std::string& ranks,
                           std::int32_t rank_count) {
  std::string text = "sorrel: " + ranks + ": " + counts(table) + "\n";
  if (!table.waits().empty()) text += wait_rows(table.waits(), rank_count);
  return text + memory_rows(table.memory());
}

}  // namespace sorrel::runtime
