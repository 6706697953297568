#include "runtime/deadlock_report.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/text.hpp"
#include "runtime/wait_rows.hpp"

namespace sorrel::runtime {

namespace {

std::string headline(const WaitTable& table, std::int32_t rank_count) {
  const auto waiting = static_cast<std::int32_t>(table.waits().size());
  const std::int32_t unknown = table.unknown_count();
  std::string text = text_of("sorrel: deadlock: %d of %d ranks wait", waiting, rank_count);
  if (unknown > 0) {
    text += text_of(", the state of %d is unknown", unknown);
  } else if (waiting < rank_count) {
    text += ", the others have ended";
  }
  return text + ", and no message is in flight\n";
}

/// Number of steps of a cycle that are named at its beginning and at its end.
constexpr std::size_t steps_at_begin = 8;
constexpr std::size_t steps_at_end = 2;

/// The rank that a rank waits for; the search for a collective's absent member is made once.
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

/// "cycle: 0 waits for 1 waits for 0", without the middle of a long one.
std::string cycle(const std::vector<std::int32_t>& ranks) {
  const bool is_long = ranks.size() > steps_at_begin + steps_at_end + 1;
  std::string text = "cycle: ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (is_long && i == steps_at_begin) {
      const std::size_t left_out = ranks.size() - steps_at_begin - steps_at_end;
      text += text_of("… %zu more … ", left_out);
      i += left_out;
    }
    text += text_of("%d waits for ", ranks[i]);
  }
  return text + text_of("%d\n", ranks.front());
}

/// Follows the awaited ranks until a rank occurs twice or the chain ends.
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
    return cycle({begin, visited.end()});
  }
  return {};
}

}  // namespace

std::string deadlock_report(const WaitTable& table, std::int32_t rank_count) {
  return headline(table, rank_count) + wait_rows(table.waits(), rank_count) +
         trail(table, rank_count);
}

}  // namespace sorrel::runtime
