#include "mpi/saved/saved_comm.hpp"

#include <limits>
#include <span>
#include <utility>

#include "mpi/comm/topology/cart.hpp"
#include "mpi/comm/topology/dist_graph.hpp"
#include "mpi/comm/topology/graph.hpp"
#include "mpi/saved/lists.hpp"
#include "mpi/saved/saved_services.hpp"

namespace sorrel::mpi {

namespace {

constexpr int rank_count_max = std::numeric_limits<int>::max();

void save_cart(const CartTopology& cart, ByteWriter& to) {
  std::vector<int> dims;
  std::vector<int> periods;
  for (int i = 0; i < cart.dimension_count(); ++i) {
    dims.push_back(cart.extent(i));
    periods.push_back(cart.is_periodic(i) ? 1 : 0);
  }
  add_list<int>(to, dims);
  add_list<int>(to, periods);
}

Topology::Pointer restore_cart(ByteCursor& from) {
  const auto dims = take_list<int>(from);
  const auto periods = take_list<int>(from);
  CartTopology::Pointer cart;
  ErrorDetail detail;
  if (dims.size() != periods.size() ||
      CartTopology::make(dims, periods, rank_count_max, &cart, detail) != MPI_SUCCESS)
    return nullptr;
  return cart;
}

void save_graph(const GraphTopology& graph, ByteWriter& to) {
  add_list<int>(to, graph.index());
  add_list<int>(to, graph.edges());
}

Topology::Pointer restore_graph(ByteCursor& from) {
  const auto index = take_list<int>(from);
  const auto edges = take_list<int>(from);
  const std::size_t edge_count = index.empty() ? 0 : static_cast<std::size_t>(index.back());
  GraphTopology::Pointer graph;
  ErrorDetail detail;
  if (edges.size() != edge_count ||
      GraphTopology::make({.node_count = static_cast<int>(index.size()),
                           .index = index.data(),
                           .edges = edges.data()},
                          rank_count_max, &graph, detail) != MPI_SUCCESS)
    return nullptr;
  return graph;
}

void save_edges(const DistGraphTopology::Edges& edges, ByteWriter& to) {
  add_list<int>(to, edges.ranks);
  add_list<int>(to, edges.weights);
}

DistGraphTopology::Edges restore_edges(ByteCursor& from) {
  DistGraphTopology::Edges edges;
  edges.ranks = take_list<int>(from);
  edges.weights = take_list<int>(from);
  return edges;
}

void save_topology(const Topology::Pointer& topology, ByteWriter& to) {
  to.add(topology != nullptr);
  if (topology == nullptr) return;
  to.add(topology->kind());
  switch (topology->kind()) {
    case Topology::Kind::cart:
      return save_cart(*topology_as<CartTopology>(topology), to);
    case Topology::Kind::graph:
      return save_graph(*topology_as<GraphTopology>(topology), to);
    case Topology::Kind::dist_graph: {
      const auto& graph = *topology_as<DistGraphTopology>(topology);
      to.add(graph.is_weighted());
      save_edges(graph.in(), to);
      save_edges(graph.out(), to);
    }
  }
}

/// False: damaged. `shared` is what another member has restored, or null.
bool restore_topology(Topology::Pointer& topology, Topology::Pointer& shared, ByteCursor& from) {
  if (!from.take<bool>()) return true;
  const auto kind = from.take<Topology::Kind>();
  if (kind == Topology::Kind::dist_graph) {
    const bool is_weighted = from.take<bool>();
    DistGraphTopology::Edges in = restore_edges(from);
    DistGraphTopology::Edges out = restore_edges(from);
    topology = std::make_shared<DistGraphTopology>(std::move(in), std::move(out), is_weighted);
    return true;
  }
  const Topology::Pointer made =
      kind == Topology::Kind::cart ? restore_cart(from) : restore_graph(from);
  if (shared == nullptr) shared = made;
  topology = shared;
  return made != nullptr;
}

}  // namespace

bool is_shadow_view(const Comm& comm) {
  return comm.shared->context() >> context_bits != 0;
}

void save_settings(const Comm& comm, ByteWriter& to) {
  to.add(handle_of(*comm.errhandler));
  to.add(comm.is_read_late);
  to.add(comm.name != nullptr);
  if (comm.name != nullptr) to.add_block(*comm.name);
  to.add(comm.info.get());
  save_attributes(comm.attributes, to);
}

void restore_settings(RankState& rank, Comm& comm, ByteCursor& from) {
  comm.errhandler = errhandler_of(from.take<MPI_Errhandler>());
  comm.is_read_late = from.take<bool>();
  if (from.take<bool>()) comm.name = std::make_unique<std::string>(from.take_block());
  comm.info.reset(from.take<Info*>());
  restore_attributes(rank, comm.attributes, from);
}

void save_comm(const Comm& comm, ByteWriter& to) {
  const CommKind kind = comm.inter == nullptr ? CommKind::intra : CommKind::inter;
  to.add(kind);
  if (comm.inter != nullptr) to.add(*comm.inter);
  to.add(comm.rank);
  to.add(comm.shared->context());
  save_group(*comm.shared->group(), to);
  save_topology(comm.topology, to);
  save_settings(comm, to);
}

bool restore_comm(RankState& rank, Comm& comm, SharedParts& parts, ByteCursor& from) {
  const auto kind = from.take<CommKind>();
  if (kind == CommKind::inter)
    comm.inter = std::make_unique<const InterPart>(from.take<InterPart>());
  comm.rank = from.take<std::int32_t>();
  const auto context = from.take<std::uint32_t>();
  const std::shared_ptr<const Group> group = parts.group(from);
  if (!from.is_good()) return false;
  comm.shared = &parts.comm(context, kind, group);
  comm.shared->retain();
  if (!restore_topology(comm.topology, parts.topology(context), from)) return false;
  restore_settings(rank, comm, from);
  return from.is_good() && comm.errhandler != nullptr;
}

}  // namespace sorrel::mpi
