#include "mpi/job/graph_create.hpp"

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// Replaces the member's graph by that of the first member in its process.
int share_graph(RankState& self, Comm& comm, GraphTopology::Pointer& graph) {
  if (comm.size() == 1) return MPI_SUCCESS;
  CollectiveSlots& slots = comm.shared->slots();
  const std::int32_t first = first_member_here(comm.shared->processes());
  const GraphTopology::Pointer own = graph;
  comm.call = CollectiveCall({.kind = CollectiveKind::graph_create});
  slots.publish(comm, &own);
  if (const int error = slots.local_barrier(self, comm); error != MPI_SUCCESS) return error;
  graph = slots.published_by<GraphTopology::Pointer>(first);
  if (const int error = slots.local_barrier(self, comm); error != MPI_SUCCESS) return error;
  if (own->is_equal(*graph)) return MPI_SUCCESS;
  return self.fail(
      MPI_ERR_TOPOLOGY,
      "index and edges differ from those of rank %d; they must be the same on all ranks", first);
}

/// What a rank tells another one first.
struct Announcement {
  std::int64_t number_count = 0;
  std::int64_t weights = 0;
};

/// One end of an edge, as sent to the rank at that end.
struct EdgeEnd {
  std::int32_t is_source;
  std::int32_t other_rank;
  std::int32_t weight;
};

constexpr std::int64_t numbers_per_end = 3;
static_assert(sizeof(EdgeEnd) == numbers_per_end * sizeof(std::int32_t));

/// Blocks of EdgeEnds, one for each rank.
struct EndBlocks {
  explicit EndBlocks(std::int32_t size)
      : counts(static_cast<std::size_t>(size)), displacements(static_cast<std::size_t>(size)) {}

  /// Derives from the counts where each block begins, and makes memory for all.
  void lay_out() {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      displacements[i] = sum;
      sum += counts[i];
    }
    ends.resize(static_cast<std::size_t>(sum / numbers_per_end));
  }

  [[nodiscard]] BlockList list() {
    return {.buffer = ends.data(),
            .type = datatype_from_handle(MPI_INT32_T),
            .counts = counts.data(),
            .displacements = displacements.data()};
  }

  // In numbers, not in ends.
  std::vector<std::int64_t> counts;
  std::vector<std::int64_t> displacements;
  std::vector<EdgeEnd> ends;
};

EndBlocks blocks_of(const GraphContribution& contribution, std::int32_t size) {
  EndBlocks blocks(size);
  for (const GraphContribution::Edge& edge : contribution.edges) {
    blocks.counts[static_cast<std::size_t>(edge.source)] += numbers_per_end;
    blocks.counts[static_cast<std::size_t>(edge.destination)] += numbers_per_end;
  }
  blocks.lay_out();
  std::vector<std::int64_t> next = blocks.displacements;
  const auto add = [&](std::int32_t rank, const EdgeEnd& end) {
    std::int64_t& at = next[static_cast<std::size_t>(rank)];
    blocks.ends[static_cast<std::size_t>(at / numbers_per_end)] = end;
    at += numbers_per_end;
  };
  for (const GraphContribution::Edge& edge : contribution.edges) {
    add(edge.source, {.is_source = 1, .other_rank = edge.destination, .weight = edge.weight});
    add(edge.destination, {.is_source = 0, .other_rank = edge.source, .weight = edge.weight});
  }
  return blocks;
}

/// Tells each rank how many numbers come; gets theirs. All ranks get the same result.
int announce(const Member& member,
             const GraphContribution& contribution,
             const EndBlocks& send,
             EndBlocks& receive,
             bool* is_weighted) {
  std::vector<Announcement> own(send.counts.size());
  std::vector<Announcement> theirs(send.counts.size());
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i] = {.number_count = send.counts[i],
              .weights = static_cast<std::int64_t>(contribution.weights)};
  const auto list_of = [](std::vector<Announcement>& all) {
    return BlockList{.buffer = all.data(), .count = 2, .type = datatype_from_handle(MPI_INT64_T)};
  };
  const BlockList from = list_of(own);
  const int error = all_to_all(member, &from, list_of(theirs));
  if (error != MPI_SUCCESS) return error;
  bool is_any_unweighted = false;
  *is_weighted = false;
  for (std::size_t i = 0; i < theirs.size(); ++i) {
    receive.counts[i] = theirs[i].number_count;
    const auto weights = static_cast<GraphContribution::Weights>(theirs[i].weights);
    *is_weighted = *is_weighted || weights == GraphContribution::Weights::weighted;
    is_any_unweighted = is_any_unweighted || weights == GraphContribution::Weights::unweighted;
  }
  // Without any edge and any constant, the graph is weighted, as MPI_UNWEIGHTED was not passed.
  if (!is_any_unweighted) *is_weighted = true;
  if (*is_weighted && is_any_unweighted)
    return member.self.fail(MPI_ERR_ARG,
                            "weights is MPI_UNWEIGHTED on some ranks; it must be on all or none");
  return MPI_SUCCESS;
}

/// The caller's own edges, from all contributions.
int exchange_edges(const Member& member,
                   const GraphContribution& contribution,
                   Topology::Pointer* topology) {
  EndBlocks send = blocks_of(contribution, member.comm.size());
  EndBlocks receive(member.comm.size());
  bool is_weighted = false;
  int error = announce(member, contribution, send, receive, &is_weighted);
  if (error != MPI_SUCCESS) return error;
  receive.lay_out();
  const BlockList from = send.list();
  error = all_to_all(member, &from, receive.list());
  if (error != MPI_SUCCESS) return error;
  DistGraphTopology::Edges in;
  DistGraphTopology::Edges out;
  for (const EdgeEnd& end : receive.ends) {
    DistGraphTopology::Edges& side = end.is_source != 0 ? out : in;
    side.ranks.push_back(end.other_rank);
    if (is_weighted) side.weights.push_back(end.weight);
  }
  *topology = std::make_shared<DistGraphTopology>(std::move(in), std::move(out), is_weighted);
  return MPI_SUCCESS;
}

}  // namespace

int graph_create(RankState& self, Comm& parent, GraphTopology::Pointer graph, Comm** result) {
  *result = nullptr;
  const int color = parent.rank < graph->node_count() ? 0 : MPI_UNDEFINED;
  Comm* made = nullptr;
  int error = comm_split(self, parent, color, parent.rank, &made);
  if (error != MPI_SUCCESS || made == nullptr) return error;
  error = share_graph(self, *made, graph);
  if (error != MPI_SUCCESS) {
    release(*made);
    return error;
  }
  made->topology = graph;
  *result = made;
  return MPI_SUCCESS;
}

int dist_graph_create(RankState& self,
                      Comm& parent,
                      const GraphContribution& contribution,
                      Comm** result) {
  Topology::Pointer topology;
  parent.call = CollectiveCall({.kind = CollectiveKind::graph_create});
  int error = exchange_edges({self, parent}, contribution, &topology);
  if (error != MPI_SUCCESS) return error;
  error = comm_duplicate(self, parent, result);
  if (error == MPI_SUCCESS) (*result)->topology = topology;
  return error;
}

}  // namespace sorrel::mpi
