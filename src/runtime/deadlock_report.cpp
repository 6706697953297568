#include "runtime/deadlock_report.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/text.hpp"

namespace sorrel::runtime {

namespace {

std::string headline(const WaitTable& table, std::int32_t rank_count) {
  const auto waiting = static_cast<std::int32_t>(table.waits().size());
  const std::int32_t unknown = table.unknown_count();
  std::string text = text_of("sorrel: deadlock: %d of %d ranks wait", waiting, rank_count);
  if (unknown > 0) {
    text += text_of(", of %d nothing is known", unknown);
  } else if (waiting < rank_count) {
    text += ", the others have ended";
  }
  return text + ", and nothing is under way\n";
}

std::string row(const RankWait& wait) {
  std::string text =
      text_of("%6d  %-18s %-16s %8s  %-24s %s\n", wait.rank, wait.call.c_str(), wait.peer.c_str(),
              wait.tag.c_str(), wait.comm.c_str(), wait.place.c_str());
  if (!wait.explanation.empty()) text += text_of("        %s\n", wait.explanation.c_str());
  return text;
}

std::string rows(const WaitTable& table) {
  const std::size_t count = std::min(table.waits().size(), WaitTable::row_count_max);
  std::string text = text_of("%6s  %-18s %-16s %8s  %-24s %s\n", "rank", "waits in", "for", "tag",
                             "communicator", "at");
  for (std::size_t i = 0; i < count; ++i)
    text += row(table.waits()[i]);
  if (table.waits().size() > count)
    text += text_of("        … and %zu more ranks\n", table.waits().size() - count);
  return text;
}

/// Whom ranks wait for; the search for a collective's absent member is made once.
class Awaited {
 public:
  explicit Awaited(const WaitTable& table) : table_(table) {}

  std::optional<std::int32_t> by(const RankWait& wait) {
    if (!wait.collective) return wait.awaited;
    const auto [absent, is_new] = absent_.try_emplace(*wait.collective);
    if (is_new) absent->second = table_.first_absent(*wait.collective);
    return absent->second;
  }

 private:
  const WaitTable& table_;
  std::map<std::uint32_t, std::optional<std::int32_t>> absent_;
};

/// Follows who waits for whom until a rank comes twice or the trail ends.
std::string trail(const WaitTable& table, std::int32_t rank_count) {
  Awaited awaited(table);
  std::vector<bool> is_visited(static_cast<std::size_t>(rank_count));
  for (const RankWait& start : table.waits()) {
    std::vector<std::int32_t> visited;
    std::optional<std::int32_t> at = start.rank;
    while (at && !is_visited[static_cast<std::size_t>(*at)] && !table.is_unknown(*at)) {
      is_visited[static_cast<std::size_t>(*at)] = true;
      visited.push_back(*at);
      const RankWait* wait = table.wait_of(*at);
      if (wait == nullptr) {
        return text_of("rank %d has ended, and rank %d waits for it\n", *at,
                       visited[visited.size() - 2]);
      }
      at = awaited.by(*wait);
    }
    const auto begin = at ? std::ranges::find(visited, *at) : visited.end();
    if (begin == visited.end()) continue;
    std::string text = "cycle: ";
    for (auto step = begin; step != visited.end(); ++step)
      text += text_of("%d waits for ", *step);
    return text + text_of("%d\n", *begin);
  }
  return {};
}

}  // namespace

std::string deadlock_report(const WaitTable& table, std::int32_t rank_count) {
  return headline(table, rank_count) + rows(table) + trail(table, rank_count);
}

}  // namespace sorrel::runtime
