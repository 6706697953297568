#include "report/wait_chains.hpp"

#include <algorithm>

namespace sorrel::report {

std::optional<std::int32_t> WaitChains::awaited_by(const RankWait& wait) {
  if (!wait.collective) return wait.awaited;
  const auto [absent, is_new] = absent_.try_emplace(*wait.collective);
  if (is_new) absent->second = table_.first_absent(*wait.collective);
  return absent->second;
}

std::optional<WaitChains::End> WaitChains::first_end(std::int32_t rank_count) {
  std::vector<bool> is_visited(static_cast<std::size_t>(rank_count));
  for (const RankWait& start : table_.waits()) {
    std::vector<std::int32_t> visited;
    std::optional<std::int32_t> at = start.rank;
    // Until a rank occurs twice or the chain ends.
    while (at && !is_visited[static_cast<std::size_t>(*at)] && !table_.is_unknown(*at)) {
      is_visited[static_cast<std::size_t>(*at)] = true;
      visited.push_back(*at);
      const RankWait* wait = table_.wait_of(*at);
      if (wait == nullptr)
        return End{.cycle = {}, .ended = *at, .waiting = visited[visited.size() - 2]};
      at = awaited_by(*wait);
    }
    const auto begin = at ? std::ranges::find(visited, *at) : visited.end();
    if (begin == visited.end()) continue;
    return End{.cycle = {begin, visited.end()}, .ended = std::nullopt};
  }
  return std::nullopt;
}

}  // namespace sorrel::report
