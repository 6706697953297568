#include "mpi/job/rank_needs.hpp"

#include <map>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "mpi/collectives/slots.hpp"
#include "mpi/match/request.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::mpi {

namespace {

using Kind = WaitRecord::Kind;

/// A collective needs at most so many of its missing members: with fewer needs, fewer ranks are
/// found stuck.
constexpr std::size_t absent_count_max = 16;

class NeedCollector {
 public:
  explicit NeedCollector(const ProcessWorld& world)
      : world_(world), graph_(world.first_own_rank(), end_of(world)) {}

  WaitGraph collect() {
    world_.for_each_rank([&](const RankState& rank) { add(rank); });
    return std::move(graph_);
  }

 private:
  /// One behind the numbers of all ranks of this process.
  [[nodiscard]] static std::int32_t end_of(const ProcessWorld& world) {
    return world.may_spawn() ? world.rank_number_end() : world.last_own_rank();
  }

  /// Whether only the end of its wait lets the rank act again: no other thread of it calls.
  [[nodiscard]] static bool waits(const RankState& rank) {
    return rank.fiber.state == core::FiberState::waiting && !rank.fiber.is_guest &&
           is_running(rank.phase) && rank.calling_level < MPI_THREAD_SERIALIZED;
  }

  void add(const RankState& rank) {
    if (rank.fiber.state == core::FiberState::ended) return graph_.add_ended(rank.world_rank);
    if (!waits(rank)) return;
    switch (rank.wait.kind) {
      case Kind::requests:
        return add_requests(rank);
      case Kind::probe:
        return add_probe(rank);
      case Kind::collective:
        return add_collective(rank);
      case Kind::window:
      case Kind::none:
        return;
    }
  }

  void add_requests(const RankState& rank) {
    const std::string_view call = rank.fiber.call;
    const bool is_any = call == "MPI_Waitany" || call == "MPI_Waitsome";
    graph_.add_wait(rank.world_rank, is_any ? WaitGraph::Needs::any : WaitGraph::Needs::all);
    const RequestList list{rank.wait_detail.requests, rank.wait_detail.request_count};
    for (std::int32_t i = 0; i < list.count; ++i) {
      const Request* request = list[i];
      if (request == nullptr || request->completion.is_done()) continue;
      const bool is_inactive = request->life == Request::Life::persistent && !request->is_active;
      if (!is_inactive) add_request(*request);
    }
  }

  /// A message or a receive that is in no table has been matched, or belongs to another process.
  void add_request(const Request& request) {
    if (request.kind == Request::Kind::operation || !request.message.is_linked())
      return graph_.need_anything();
    if (request.kind == Request::Kind::receive)
      return add_sender(*request.comm->shared, request.peer, request.tag);
    graph_.need(request.comm->shared->group()->world_rank(request.peer));
  }

  /// Messages with other tags may come from operations of a rank that waits.
  void add_sender(const CommShared& shared, std::int32_t source, std::int32_t tag) {
    if (tag < 0 && tag != MPI_ANY_TAG) return graph_.need_anything();
    if (source != MPI_ANY_SOURCE) return graph_.need(shared.group()->world_rank(source));
    const auto [group, is_new] = groups_.try_emplace(&shared);
    if (is_new) {
      std::vector<std::int32_t> ranks;
      for (std::int32_t member = 0; member < shared.size(); ++member)
        ranks.push_back(shared.group()->world_rank(member));
      group->second = graph_.add_group(std::move(ranks));
    }
    graph_.need_one_of(group->second);
  }

  /// Once a message has come, the fiber is no longer in the queue.
  void add_probe(const RankState& rank) {
    if (rank.probers.first() != &rank.fiber) return;
    graph_.add_wait(rank.world_rank, WaitGraph::Needs::all);
    add_sender(*rank.wait.comm->shared, rank.wait_detail.peer, rank.wait_detail.tag);
  }

  void add_collective(const RankState& rank) {
    const CommShared& shared = *rank.wait.comm->shared;
    if (shared.processes() != nullptr || !has_arrived(rank, shared)) return;
    const auto [absent, is_new] = absent_.try_emplace(&shared);
    for (std::int32_t i = 0; is_new && i < shared.size(); ++i) {
      const RankState& member = shared.member(i);
      const bool is_stuck_elsewhere = waits(member) && !has_arrived(member, shared);
      if (is_stuck_elsewhere && absent->second.size() < absent_count_max)
        absent->second.push_back(member.world_rank);
    }
    graph_.add_wait(rank.world_rank, WaitGraph::Needs::all);
    for (const std::int32_t member : absent->second)
      graph_.need(member);
  }

  /// Whether the rank waits in a barrier of this communicator, which has not been released: the
  /// release empties the queue of the rank's node. A rank that waits at a safepoint is in no queue,
  /// and has no node before its first barrier.
  [[nodiscard]] bool has_arrived(const RankState& rank, const CommShared& shared) {
    if (rank.wait.kind != Kind::collective || rank.wait.comm->shared != &shared) return false;
    const BarrierNode* node = rank.wait.comm->barrier_node;
    if (node == nullptr) return false;
    if (nodes_.insert(node).second)
      node->waiting.for_each([&](const core::Fiber& fiber) { arrived_.insert(&fiber); });
    return arrived_.contains(&rank.fiber);
  }

  const ProcessWorld& world_;
  WaitGraph graph_;
  std::map<const CommShared*, std::size_t> groups_;
  /// Members that wait elsewhere.
  std::map<const CommShared*, std::vector<std::int32_t>> absent_;
  std::unordered_set<const BarrierNode*> nodes_;
  std::unordered_set<const core::Fiber*> arrived_;
};

}  // namespace

WaitGraph needs_of(const ProcessWorld& world) {
  return NeedCollector(world).collect();
}

}  // namespace sorrel::mpi
