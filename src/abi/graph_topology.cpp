// Graph and distributed graph topologies. MPI 5.0, 8.5.3 to 8.5.5.
#include <algorithm>
#include <span>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/comm/topology/dist_graph.hpp"
#include "mpi/comm/topology/graph.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/job/graph_create.hpp"

namespace sorrel::abi {
namespace {

using mpi::DistGraphTopology;
using mpi::GraphContribution;
using mpi::GraphTopology;

int check_room(RankState& self, const char* name, int room, std::size_t needed) {
  if (room >= 0 && static_cast<std::size_t>(room) >= needed) return MPI_SUCCESS;
  return self.fail(MPI_ERR_ARG, "%s is %d; it must be at least %zu", name, room, needed);
}

int check_length(RankState& self, const char* name, int length) {
  if (length >= 0) return MPI_SUCCESS;
  return self.fail(MPI_ERR_ARG, "%s is %d; it must not be negative", name, length);
}

int check_node(RankState& self, const GraphTopology& graph, int rank) {
  if (rank >= 0 && rank < graph.node_count()) return MPI_SUCCESS;
  return fail_rank(self, "rank", rank, graph.node_count());
}

/// Ranks at the ends of edges. The standard allows no MPI_PROC_NULL here.
int check_ends(RankState& self, const Comm& comm, const char* name, std::span<const int> ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] < 0 || ranks[i] >= comm.size())
      return self.fail(MPI_ERR_RANK, "%s[%zu] is %d; it must be in 0..%d", name, i, ranks[i],
                       comm.size() - 1);
  }
  return MPI_SUCCESS;
}

bool is_array(const int* weights) {
  return weights != nullptr && weights != MPI_UNWEIGHTED && weights != MPI_WEIGHTS_EMPTY;
}

/// The weights of `count` edges: an array, MPI_UNWEIGHTED, or anything if there is no edge.
int check_weights(RankState& self, const char* name, const int* weights, std::size_t count) {
  if (weights == MPI_UNWEIGHTED || count == 0) return MPI_SUCCESS;
  if (weights == nullptr) return fail_null(self, name);
  if (weights == MPI_WEIGHTS_EMPTY)
    return self.fail(MPI_ERR_ARG, "%s is MPI_WEIGHTS_EMPTY, but there are %zu edges", name, count);
  for (std::size_t i = 0; i < count; ++i) {
    if (weights[i] < 0)
      return self.fail(MPI_ERR_ARG, "%s[%zu] is %d; it must not be negative", name, i, weights[i]);
  }
  return MPI_SUCCESS;
}

GraphContribution::Weights kind_of(const int* weights) {
  if (weights == MPI_UNWEIGHTED) return GraphContribution::Weights::unweighted;
  return weights == nullptr ? GraphContribution::Weights::any
                            : GraphContribution::Weights::weighted;
}

/// One direction of MPI_Dist_graph_create_adjacent.
struct UserEdges {
  const char* degree_name;
  const char* ranks_name;
  const char* weights_name;
  int degree;
  const int* ranks;
  const int* weights;
};

int check_edges(RankState& self,
                const Comm& comm,
                const UserEdges& user,
                DistGraphTopology::Edges* edges) {
  if (const int error = check_length(self, user.degree_name, user.degree); error != MPI_SUCCESS)
    return error;
  const std::span ranks(user.ranks, static_cast<std::size_t>(user.degree));
  int error = check_ends(self, comm, user.ranks_name, ranks);
  if (error == MPI_SUCCESS)
    error = check_weights(self, user.weights_name, user.weights, ranks.size());
  if (error != MPI_SUCCESS) return error;
  edges->ranks.assign(ranks.begin(), ranks.end());
  if (is_array(user.weights)) edges->weights.assign(user.weights, user.weights + user.degree);
  return MPI_SUCCESS;
}

void give_edges(const DistGraphTopology::Edges& edges, int room, int ranks[], int weights[]) {
  const std::size_t count =
      std::min(static_cast<std::size_t>(std::max(room, 0)), edges.ranks.size());
  std::copy_n(edges.ranks.begin(), count, ranks);
  if (is_array(weights) && !edges.weights.empty())
    std::copy_n(edges.weights.begin(), count, weights);
}

int make_graph(RankState& self,
               const Comm& comm,
               const GraphTopology::Arguments& arguments,
               GraphTopology::Pointer* graph) {
  return GraphTopology::make(arguments, comm.size(), graph, self.detail());
}

}  // namespace

namespace body {

int Graph_create(RankState& self,
                 Comm& comm,
                 int nnodes,
                 const int indx[],
                 const int edges[],
                 int /*reorder*/,
                 MPI_Comm* comm_graph) {
  GraphTopology::Pointer graph;
  if (const int error = make_graph(self, comm, {nnodes, indx, edges}, &graph); error != MPI_SUCCESS)
    return error;
  Comm* made = nullptr;
  const int error = graph_create(self, comm, std::move(graph), &made);
  *comm_graph = handle_or_null(made);
  return error;
}

int Graph_map(
    RankState& self, Comm& comm, int nnodes, const int indx[], const int edges[], int* newrank) {
  GraphTopology::Pointer graph;
  if (const int error = make_graph(self, comm, {nnodes, indx, edges}, &graph); error != MPI_SUCCESS)
    return error;
  *newrank = comm.rank < nnodes ? comm.rank : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

int Graphdims_get(
    RankState& /*self*/, Comm& /*comm*/, const GraphTopology& graph, int* nnodes, int* nedges) {
  *nnodes = graph.node_count();
  *nedges = graph.edge_count();
  return MPI_SUCCESS;
}

int Graph_get(RankState& self,
              Comm& /*comm*/,
              const GraphTopology& graph,
              int maxindex,
              int maxedges,
              int indx[],
              int edges[]) {
  int error = check_room(self, "maxindex", maxindex, graph.index().size());
  if (error == MPI_SUCCESS) error = check_room(self, "maxedges", maxedges, graph.edges().size());
  if (error != MPI_SUCCESS) return error;
  std::copy(graph.index().begin(), graph.index().end(), indx);
  std::copy(graph.edges().begin(), graph.edges().end(), edges);
  return MPI_SUCCESS;
}

int Graph_neighbors_count(
    RankState& self, Comm& /*comm*/, const GraphTopology& graph, int rank, int* nneighbors) {
  if (const int error = check_node(self, graph, rank); error != MPI_SUCCESS) return error;
  *nneighbors = static_cast<int>(graph.neighbors_of(rank).size());
  return MPI_SUCCESS;
}

int Graph_neighbors(RankState& self,
                    Comm& /*comm*/,
                    const GraphTopology& graph,
                    int rank,
                    int maxneighbors,
                    int neighbors[]) {
  if (const int error = check_node(self, graph, rank); error != MPI_SUCCESS) return error;
  const std::span<const int> found = graph.neighbors_of(rank);
  if (const int error = check_room(self, "maxneighbors", maxneighbors, found.size());
      error != MPI_SUCCESS)
    return error;
  std::copy(found.begin(), found.end(), neighbors);
  return MPI_SUCCESS;
}

int Dist_graph_create(RankState& self,
                      Comm& comm,
                      int n,
                      const int sources[],
                      const int degrees[],
                      const int destinations[],
                      const int* weights,
                      MPI_Info info,
                      int /*reorder*/,
                      MPI_Comm* comm_dist_graph) {
  int error = check_length(self, "n", n);
  if (error == MPI_SUCCESS) error = check_info(self, info);
  if (error != MPI_SUCCESS) return error;
  const std::span nodes(sources, static_cast<std::size_t>(n));
  error = check_ends(self, comm, "sources", nodes);
  if (error != MPI_SUCCESS) return error;
  std::size_t edge_count = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (degrees[i] < 0)
      return self.fail(MPI_ERR_ARG, "degrees[%zu] is %d; it must not be negative", i, degrees[i]);
    edge_count += static_cast<std::size_t>(degrees[i]);
  }
  SORREL_NOT_NULL_IF(edge_count > 0, destinations);
  error = check_ends(self, comm, "destinations", std::span(destinations, edge_count));
  if (error == MPI_SUCCESS) error = check_weights(self, "weights", weights, edge_count);
  if (error != MPI_SUCCESS) return error;
  GraphContribution contribution{.edges = {}, .weights = kind_of(weights)};
  std::size_t next = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (int k = 0; k < degrees[i]; ++k, ++next)
      contribution.edges.push_back({.source = sources[i],
                                    .destination = destinations[next],
                                    .weight = is_array(weights) ? weights[next] : 0});
  }
  Comm* made = nullptr;
  error = dist_graph_create(self, comm, contribution, &made);
  *comm_dist_graph = handle_or_null(made);
  return error;
}

int Dist_graph_create_adjacent(RankState& self,
                               Comm& comm,
                               int indegree,
                               const int sources[],
                               const int* sourceweights,
                               int outdegree,
                               const int destinations[],
                               const int* destweights,
                               MPI_Info info,
                               int /*reorder*/,
                               MPI_Comm* comm_dist_graph) {
  DistGraphTopology::Edges in;
  DistGraphTopology::Edges out;
  int error = check_edges(
      self, comm, {"indegree", "sources", "sourceweights", indegree, sources, sourceweights}, &in);
  if (error == MPI_SUCCESS)
    error = check_edges(
        self, comm,
        {"outdegree", "destinations", "destweights", outdegree, destinations, destweights}, &out);
  if (error == MPI_SUCCESS) error = check_info(self, info);
  if (error != MPI_SUCCESS) return error;
  const bool is_unweighted = sourceweights == MPI_UNWEIGHTED;
  const bool is_other_unweighted = destweights == MPI_UNWEIGHTED;
  if (is_unweighted != is_other_unweighted && sourceweights != nullptr && destweights != nullptr)
    return self.fail(
        MPI_ERR_ARG,
        "one of sourceweights and destweights is MPI_UNWEIGHTED; it must be both or none");
  const auto topology = std::make_shared<DistGraphTopology>(std::move(in), std::move(out),
                                                            !is_unweighted && !is_other_unweighted);
  Comm* made = nullptr;
  error = comm_duplicate(self, comm, &made);
  if (made != nullptr) made->topology = topology;
  *comm_dist_graph = handle_or_null(made);
  return error;
}

int Dist_graph_neighbors_count(RankState& /*self*/,
                               Comm& /*comm*/,
                               const DistGraphTopology& dist_graph,
                               int* indegree,
                               int* outdegree,
                               int* weighted) {
  *indegree = static_cast<int>(dist_graph.in().ranks.size());
  *outdegree = static_cast<int>(dist_graph.out().ranks.size());
  *weighted = dist_graph.is_weighted() ? 1 : 0;
  return MPI_SUCCESS;
}

int Dist_graph_neighbors(RankState& self,
                         Comm& /*comm*/,
                         const DistGraphTopology& dist_graph,
                         int maxindegree,
                         int sources[],
                         int sourceweights[],
                         int maxoutdegree,
                         int destinations[],
                         int destweights[]) {
  int error = check_length(self, "maxindegree", maxindegree);
  if (error == MPI_SUCCESS) error = check_length(self, "maxoutdegree", maxoutdegree);
  if (error != MPI_SUCCESS) return error;
  if (dist_graph.is_weighted()) {
    SORREL_NOT_NULL_IF(maxindegree > 0, sourceweights);
    SORREL_NOT_NULL_IF(maxoutdegree > 0, destweights);
  }
  give_edges(dist_graph.in(), maxindegree, sources, sourceweights);
  give_edges(dist_graph.out(), maxoutdegree, destinations, destweights);
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
