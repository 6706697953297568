#include "runtime/wait_groups.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text.hpp"

namespace sorrel::runtime {

namespace {

/// Text of the peer in a row.
enum class PeerText { own, by_distance, none };

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

std::string peer_of(const RankWait& wait, std::int32_t rank_count, PeerText kind) {
  if (kind == PeerText::own) return wait.peer;
  if (kind == PeerText::by_distance) return by_distance(wait, rank_count);
  return wait.awaited ? "various" : wait.peer;
}

std::vector<WaitGroup> grouped(const std::vector<RankWait>& waits,
                               std::int32_t rank_count,
                               PeerText kind) {
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::string, std::string>,
           std::size_t>
      index_of;
  std::vector<WaitGroup> groups;
  for (const RankWait& wait : waits) {
    const std::string peer = peer_of(wait, rank_count, kind);
    const auto [found, is_new] = index_of.try_emplace(
        {wait.call, peer, wait.tag, wait.comm, wait.place, wait.explanation}, groups.size());
    if (is_new) {
      groups.push_back({.ranks = {}, .wait = wait});
      groups.back().wait.peer = peer;
    }
    groups[found->second].ranks.push_back(wait.rank);
  }
  return groups;
}

}  // namespace

std::vector<WaitGroup> wait_groups(const std::vector<RankWait>& waits,
                                   std::int32_t rank_count,
                                   std::size_t row_count_max) {
  std::vector<WaitGroup> groups;
  for (const PeerText kind : {PeerText::own, PeerText::by_distance, PeerText::none}) {
    groups = grouped(waits, rank_count, kind);
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

}  // namespace sorrel::runtime
