#include "mpi/comm/process_map.hpp"

#include <algorithm>
#include <unordered_map>

#include "base/check.hpp"
#include "mpi/comm/group.hpp"

namespace sorrel::mpi {

bool ProcessMap::spans(const RankLayout& layout, const Group& group) {
  if (layout.process_count() == 1 || group.size() <= 1) return false;
  const std::uint32_t first = layout.process_of(group.world_rank(0));
  for (std::int32_t rank = 1; rank < group.size(); ++rank) {
    if (layout.process_of(group.world_rank(rank)) != first) return true;
  }
  return false;
}

ProcessMap::ProcessMap(const RankLayout& layout,
                       const Group& group,
                       const transport::Transport& transport)
    : tree_(group.size()) {
  std::vector<std::int32_t> index_of_process(layout.process_count(), -1);
  for (std::int32_t rank = 0; rank < group.size(); ++rank)
    index_of_process[layout.process_of(group.world_rank(rank))] = 0;
  for (std::uint32_t process = 0; process < layout.process_count(); ++process) {
    if (index_of_process[process] < 0) continue;
    index_of_process[process] = count();
    if (process == transport.own_process()) own_index_ = count();
    processes_.push_back({.number = process,
                          .barrier_endpoint = {.process = process, .worker = layout.worker_count()},
                          .members = {},
                          .cover = {}});
  }
  SORREL_CHECK(own_index_ >= 0, "a communicator without members in its process");
  find_nodes(transport);
  index_of_rank_.reserve(static_cast<std::size_t>(group.size()));
  for (std::int32_t rank = 0; rank < group.size(); ++rank) {
    const Endpoint endpoint = layout.endpoint_of(group.world_rank(rank));
    const std::int32_t index = index_of_process[endpoint.process];
    Process& process = processes_[static_cast<std::size_t>(index)];
    process.members.push_back(rank);
    process.barrier_endpoint.worker = std::min(process.barrier_endpoint.worker, endpoint.worker);
    index_of_rank_.push_back(index);
    if (runs_.empty() || runs_.back().process_index != index)
      runs_.push_back({.process_index = index, .first = rank, .last = rank});
    runs_.back().last = rank + 1;
  }
  find_covers();
}

void ProcessMap::find_covers() {
  for (Process& process : processes_) {
    process.cover = tree_.cover(process.members);
    cover_size_max_ = std::max(cover_size_max_, process.cover.size());
  }
  for (const auto& processes : nodes_) {
    std::vector<std::int32_t> members;
    for (const std::int32_t index : processes)
      members.insert(members.end(), at(index).members.begin(), at(index).members.end());
    std::ranges::sort(members);
    node_covers_.push_back(tree_.cover(members));
    cover_size_max_ = std::max(cover_size_max_, node_covers_.back().size());
  }
}

void ProcessMap::find_nodes(const transport::Transport& transport) {
  std::unordered_map<std::uint32_t, std::int32_t> index_of_node;
  for (std::int32_t index = 0; index < count(); ++index) {
    Process& process = processes_[static_cast<std::size_t>(index)];
    process.node =
        index_of_node.try_emplace(transport.node_of(process.number), node_count()).first->second;
    if (process.node == node_count()) nodes_.emplace_back();
    auto& processes = nodes_[static_cast<std::size_t>(process.node)];
    process.position = static_cast<std::int32_t>(processes.size());
    processes.push_back(index);
  }
}

}  // namespace sorrel::mpi
