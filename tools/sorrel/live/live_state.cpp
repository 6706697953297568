#include "tools/sorrel/live/live_state.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "report/activity_table.hpp"
#include "report/rank_runs.hpp"
#include "report/wait_groups.hpp"

namespace sorrel::tool {

namespace {

constexpr int rank_runs_max = 8;

/// How many ranks are in each state.
Json counts_of(const report::WaitTable& table) {
  const auto count_of = [&](std::string_view state) {
    return std::ranges::count_if(
        table.waits(), [&](const report::RankWait& wait) { return wait.state.starts_with(state); });
  };
  return {
      {"running", count_of(report::state_running)}, {"blocked", count_of(report::state_blocked)},
      {"ready", count_of(report::state_ready)},     {"waiting", count_of(report::state_waiting)},
      {"ended", count_of(report::state_ended)},     {"unknown", table.unknown_count()}};
}

}  // namespace

Json live_state(const RunningJob& job, const JobView& before, const JobView& now) {
  const Json all = json_of(job, before, now);
  Json state = {{"job", job.pid},
                {"command", job.command},
                {"processes", job.processes.size()},
                {"ranks", now.view.rank_count},
                {"seconds", all["seconds"]},
                {"cpu_seconds", all["cpu_seconds"]},
                {"resident_bytes", all["resident_bytes"]},
                {"notes", now.notes},
                {"workers", all["worker_states"]},
                {"counts", counts_of(now.view.ranks)}};
  std::uint64_t unexpected = 0;
  for (const auto& [rank, count] : now.view.unexpected)
    unexpected += count;
  state["unexpected_messages"] = unexpected;
  const auto groups =
      report::wait_groups(now.view.ranks.waits(), now.view.rank_count, live_row_count_max);
  Json rows = Json::array();
  std::size_t left_out = 0;
  for (const report::WaitGroup& group : groups) {
    if (rows.size() == live_row_count_max) {
      left_out += group.ranks.size();
      continue;
    }
    const report::RankWait& wait = group.wait;
    rows.push_back({report::text_of_ranks(group.ranks, rank_runs_max), wait.state, wait.call,
                    wait.place, wait.peer, wait.tag, wait.comm});
  }
  state["rows"] = std::move(rows);
  state["left_out"] = left_out;
  std::vector<report::RankMemory> heaps = now.view.ranks.memory();
  std::uint64_t held = 0;
  for (const report::RankMemory& heap : heaps)
    held += heap.held;
  state["heap_bytes"] = held;
  return state;
}

}  // namespace sorrel::tool
