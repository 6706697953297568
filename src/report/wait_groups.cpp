#include "report/wait_groups.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/text.hpp"

namespace sorrel::report {

namespace {

/// The fields by which rows differ: each value drops one more.
enum class Detail { all, no_workers, distances_of_peers, no_peers, no_tags, no_communicators };

constexpr const char* various = "various";

/// "from 12 +3 more" of rank 11 becomes "from rank+1 +3 more".
std::string by_distance(const RankWait& wait, std::int32_t rank_count) {
  if (!wait.awaited || wait.peer.empty()) return wait.peer;
  const std::size_t number = wait.peer.find_first_of("0123456789");
  if (number == std::string::npos) return wait.peer;
  const std::size_t behind = wait.peer.find_first_not_of("0123456789", number);
  const std::int32_t forward = ((*wait.awaited - wait.rank) % rank_count + rank_count) % rank_count;
  const std::int32_t distance = forward > rank_count / 2 ? forward - rank_count : forward;
  std::string text = wait.peer.substr(0, number) + text_of("rank%+d", distance);
  if (behind != std::string::npos) text += wait.peer.substr(behind);
  return text;
}

/// The wait as its row shows it.
RankWait shown(const RankWait& wait, std::int32_t rank_count, Detail detail) {
  RankWait row = wait;
  if (detail >= Detail::no_workers)
    row.state = wait.state.substr(0, wait.state.find(" on worker "));
  if (detail == Detail::distances_of_peers) row.peer = by_distance(wait, rank_count);
  const bool is_on_gpu = wait.peer.starts_with(peer_on_gpu);
  if (detail >= Detail::no_peers && (wait.awaited || is_on_gpu)) row.peer = various;
  if (detail >= Detail::no_tags && wait.tag != "-") row.tag = various;
  if (detail >= Detail::no_communicators && wait.comm != "-") row.comm = various;
  return row;
}

std::vector<WaitGroup> grouped(const std::vector<RankWait>& waits,
                               std::int32_t rank_count,
                               Detail detail) {
  std::map<std::array<std::string, 7>, std::size_t> index_of;
  std::vector<WaitGroup> groups;
  for (const RankWait& wait : waits) {
    RankWait row = shown(wait, rank_count, detail);
    const auto [found, is_new] = index_of.try_emplace(
        {row.state, row.call, row.peer, row.tag, row.comm, row.place, row.explanation},
        groups.size());
    if (is_new) groups.push_back({.ranks = {}, .wait = std::move(row)});
    groups[found->second].ranks.push_back(wait.rank);
  }
  return groups;
}

}  // namespace

std::vector<WaitGroup> wait_groups(const std::vector<RankWait>& waits,
                                   std::int32_t rank_count,
                                   std::size_t row_count_max) {
  std::vector<WaitGroup> groups;
  for (const Detail detail : {Detail::all, Detail::no_workers, Detail::distances_of_peers,
                              Detail::no_peers, Detail::no_tags, Detail::no_communicators}) {
    groups = grouped(waits, rank_count, detail);
    if (groups.size() <= row_count_max) break;
  }
  // The groups are in the order of their first ranks.
  std::ranges::stable_sort(groups, {}, [](const WaitGroup& group) { return group.ranks.size(); });
  return groups;
}

std::string text_of_ranks(const std::vector<std::int32_t>& ranks, std::size_t run_count_max) {
  std::string text;
  std::size_t run_count = 0;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    if (++run_count > run_count_max) {
      text += ",…";
      break;
    }
    if (i > 0) text += ",";
    text += std::to_string(ranks[i]);
    if (last > i) text += text_of("-%d", ranks[last]);
    i = last + 1;
  }
  if (ranks.size() > 1) text += text_of(" (%zu)", ranks.size());
  return text;
}

}  // namespace sorrel::report
