#include "mpi/collectives/barrier_nodes.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/worker_mailbox.hpp"
#include "mpi/collectives/small_reduction.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

// Bound on the children of a node: a worker's share of a barrier stays below ten cache-line
// transfers.
constexpr std::size_t tree_fan_out = 8;

// A contribution goes in one record.
constexpr std::size_t peer_values_max =
    (core::WorkerMailbox::payload_bytes_max - sizeof(CollectiveCall)) / small_reduction_bytes_max;

std::vector<RankRun> runs_of(const std::vector<std::int32_t>& ranks) {
  std::vector<RankRun> runs;
  for (const std::int32_t rank : ranks) {
    if (runs.empty() || rank != runs.back().first + runs.back().count)
      runs.push_back({.first = rank, .count = 0});
    ++runs.back().count;
  }
  return runs;
}

}  // namespace

Endpoint BarrierMembers::endpoint_of(std::int32_t rank) const {
  const std::int32_t world_rank = group.world_rank(rank);
  // Before the ranks of this process have been made, all are where the layout puts them.
  const core::Worker* worker = world.rank(world_rank).worker;
  return worker != nullptr ? world.endpoint_of(*worker) : world.layout().endpoint_of(world_rank);
}

std::vector<std::int32_t> BarrierMembers::on(const core::Worker& worker) const {
  const Endpoint endpoint = world.endpoint_of(worker);
  std::vector<std::int32_t> members;
  for (std::int32_t i = 0; i < group.size(); ++i) {
    if (endpoint_of(i) == endpoint) members.push_back(i);
  }
  return members;
}

BarrierNodes::BarrierNodes(CollectiveSlots& slots, const BarrierMembers& members) {
  make_nodes(slots, members);
  assign_blocks(members);
  // What other processes contribute goes down from a root.
  if (nodes_.size() == 2 && members.processes == nullptr) make_pair(members);
  assign_values(members.group.size());
}

void BarrierNodes::make_nodes(CollectiveSlots& slots, const BarrierMembers& members) {
  const World& world = members.world;
  const ProcessMap* const processes = members.processes;
  const std::uint32_t worker_count = world.layout().worker_count();
  std::vector<std::uint32_t> members_of_worker(worker_count);
  std::vector<std::int32_t> last_member_of_worker(worker_count);
  std::uint32_t run_count = 0;
  Endpoint last{};
  for (std::int32_t i = 0; i < members.group.size(); ++i) {
    const Endpoint endpoint = members.endpoint_of(i);
    if (i == 0 || endpoint != last) ++run_count;
    last = endpoint;
    if (endpoint.process != world.own_process()) continue;
    ++members_of_worker[endpoint.worker];
    last_member_of_worker[endpoint.worker] = i;
  }
  member_count_ =
      std::accumulate(members_of_worker.begin(), members_of_worker.end(), std::uint32_t{0});
  // Other processes know the worker of the root, also if no member is there any more.
  const std::uint32_t root =
      processes == nullptr ? 0 : processes->barrier_endpoint(processes->own_index()).worker;
  for (std::uint32_t k = 0; k < worker_count; ++k) {
    const std::uint32_t i = (root + k) % worker_count;
    const bool is_root = processes != nullptr && k == 0;
    if (members_of_worker[i] == 0 && !is_root) continue;
    auto barrier_node = std::make_unique<BarrierNode>();
    barrier_node->worker = &world.worker(i);
    barrier_node->slots = &slots;
    barrier_node->member_count = members_of_worker[i];
    if (members_of_worker[i] == 1) barrier_node->operand_rank = last_member_of_worker[i];
    barrier_node->up.barrier_node = barrier_node->down.barrier_node = barrier_node.get();
    if (!nodes_.empty()) {
      barrier_node->parent = nodes_[(nodes_.size() - 1) / tree_fan_out].get();
      barrier_node->parent->children.push_back(barrier_node.get());
    }
    nodes_.push_back(std::move(barrier_node));
  }
  has_few_runs_ = processes == nullptr && run_count <= 2 * nodes_.size();
}

void BarrierNodes::assign_blocks(const BarrierMembers& members) {
  const std::int32_t rank_count = members.group.size();
  for (std::int32_t block = 0; block < block_count(rank_count); ++block) {
    const std::int32_t first = block * block_rank_count;
    const std::int32_t last = std::min(first + block_rank_count, rank_count);
    const Endpoint endpoint = members.endpoint_of(first);
    bool is_in_one_process = true;
    bool is_on_one_worker = true;
    for (std::int32_t i = first + 1; i < last; ++i) {
      const Endpoint other = members.endpoint_of(i);
      is_in_one_process &= other.process == endpoint.process;
      is_on_one_worker &= other == endpoint;
    }
    if (!is_in_one_process) {
      spread_blocks_.push_back(block);
    } else if (endpoint.process == members.world.own_process()) {
      (is_on_one_worker ? of(members.world.worker(endpoint.worker)).own_blocks : shared_blocks_)
          .push_back(block);
    }
  }
}

/// Neither of two nodes is the other one's parent, unless their operands are too many for a record.
void BarrierNodes::make_pair(const BarrierMembers& members) {
  BarrierNode& first = *nodes_.front();
  BarrierNode& second = *nodes_.back();
  const std::vector<std::int32_t> of_first = operand_ranks_of(first, members);
  const std::vector<std::int32_t> of_second = operand_ranks_of(second, members);
  if (std::max(of_first.size(), of_second.size()) > peer_values_max) return;
  const auto join = [](BarrierNode& from, BarrierNode& to, const std::vector<std::int32_t>& ranks) {
    to.parent = nullptr;
    to.children.clear();
    to.peer = &from;
    from.ranks_for_peer = to.ranks_of_peer = runs_of(ranks);
    to.peer_value_count = static_cast<std::uint32_t>(ranks.size());
  };
  join(first, second, of_first);
  join(second, first, of_second);
}

/// The ranks under whose numbers it has operands that remain to be combined.
std::vector<std::int32_t> BarrierNodes::operand_ranks_of(const BarrierNode& barrier_node,
                                                         const BarrierMembers& members) const {
  std::vector<std::int32_t> ranks = members.on(*barrier_node.worker);
  std::erase_if(ranks, [&](std::int32_t rank) {
    const bool is_first_of_block = rank % block_rank_count == 0;
    const bool is_shared =
        std::ranges::find(shared_blocks_, rank / block_rank_count) != shared_blocks_.end();
    return !is_first_of_block && !is_shared;
  });
  return ranks;
}

void BarrierNodes::assign_values(std::int32_t rank_count) {
  const std::size_t lines =
      line_pairs(static_cast<std::size_t>(rank_count) * small_reduction_bytes_max);
  const bool is_pair = nodes_.front()->peer != nullptr;
  values_ = std::make_unique_for_overwrite<LinePair[]>(is_pair ? 2 * lines : lines);
  for (const auto& barrier_node : nodes_) {
    const bool is_second = is_pair && barrier_node == nodes_.back();
    barrier_node->values = values_[is_second ? lines : 0].bytes.data();
    // The operand of a root, and of a member that is a whole block, is stored under its rank at
    // once.
    if (barrier_node->parent == nullptr || !barrier_node->own_blocks.empty())
      barrier_node->operand_rank = -1;
  }
}

BarrierNode& BarrierNodes::of(const core::Worker& worker) const {
  const auto found = std::ranges::find(nodes_, &worker, &BarrierNode::worker);
  SORREL_ASSERT(found != nodes_.end(), "a worker without members");
  return **found;
}

}  // namespace sorrel::mpi
