// Neighbourhood collectives: blocking, nonblocking and persistent. MPI 5.0, 8.6 to 8.8.
#include "abi/body.hpp"
#include "abi/collective_checks.hpp"
#include "mpi/collectives/neighbor.hpp"
#include "mpi/comm/topology/graph.hpp"
#include "mpi/match/start.hpp"

namespace sorrel::abi {

namespace {

using mpi::NeighborBlocks;
using mpi::NeighborKind;
using mpi::Request;
using mpi::Topology;

int check_symmetry(RankState& self, const Comm& comm) {
  const auto* graph = mpi::topology_as<mpi::GraphTopology>(comm.topology);
  if (graph == nullptr || graph->is_symmetric()) return MPI_SUCCESS;
  return self.fail(
      MPI_ERR_TOPOLOGY,
      "the graph of comm has edges without an edge back; MPI_Graph_create makes graphs "
      "for these collectives only with both");
}

std::int32_t count_of(const std::vector<int>& edges) {
  return static_cast<std::int32_t>(edges.size());
}

int check_receive(RankState& self, Comm& comm, const UserBlocks& user, NeighborBlocks* blocks) {
  if (const int error = check_symmetry(self, comm); error != MPI_SUCCESS) return error;
  return check_blocks(self, count_of(neighborhood_of(comm).sources), user, &blocks->receive);
}

int check_gather(RankState& self,
                 Comm& comm,
                 const UserBuffer& send,
                 const UserBlocks& receive,
                 NeighborBlocks* blocks) {
  const int error = check_receive(self, comm, receive, blocks);
  return error != MPI_SUCCESS ? error : check_typed(self, send, &blocks->send_to_all);
}

int check_all_to_all(RankState& self,
                     Comm& comm,
                     const UserBlocks& send,
                     const UserBlocks& receive,
                     NeighborBlocks* blocks) {
  const int error = check_receive(self, comm, receive, blocks);
  if (error != MPI_SUCCESS) return error;
  return check_blocks(self, count_of(neighborhood_of(comm).destinations), send, &blocks->send);
}

int run(RankState& self, Comm& comm, const NeighborBlocks& blocks) {
  comm.call = {};
  const int error = exchange_with_neighbors({self, comm}, blocks);
  if (error != MPI_ERR_TRUNCATE) return error;
  return self.fail(
      error, "count and datatype must describe the same amount of data at both ends of an edge");
}

int start(RankState& self, Comm& comm, const NeighborBlocks& blocks, MPI_Request* request) {
  Request& made =
      make_neighbor_request({self, comm}, blocks, Request::Life::operation, self.fiber.call);
  *request = handle_of(made);
  activate(made);
  return made.operation->start();
}

int prepare(RankState& self,
            Comm& comm,
            const NeighborBlocks& blocks,
            MPI_Info info,
            MPI_Request* request) {
  if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
  *request = handle_of(
      make_neighbor_request({self, comm}, blocks, Request::Life::persistent, self.fiber.call));
  return MPI_SUCCESS;
}

}  // namespace

namespace body {

// The three functions of a kind: their names, the types of their sides, the check of the arguments.
#define SORREL_NEIGHBOR_BODIES(name, init_name, which, Send, Receive, check)                       \
  int Neighbor_##name(RankState& self, Comm& comm, const Topology& /*topology*/, const Send& send, \
                      const Receive& receive) {                                                    \
    NeighborBlocks blocks{.kind = NeighborKind::which};                                            \
    const int error = check(self, comm, {send}, {receive}, &blocks);                               \
    return error != MPI_SUCCESS ? error : run(self, comm, blocks);                                 \
  }                                                                                                \
  int Ineighbor_##name(RankState& self, Comm& comm, const Topology& /*topology*/,                  \
                       const Send& send, const Receive& receive, MPI_Request* request) {           \
    NeighborBlocks blocks{.kind = NeighborKind::which};                                            \
    const int error = check(self, comm, {send}, {receive}, &blocks);                               \
    return error != MPI_SUCCESS ? error : start(self, comm, blocks, request);                      \
  }                                                                                                \
  int Neighbor_##init_name(RankState& self, Comm& comm, const Topology& /*topology*/,              \
                           const Send& send, const Receive& receive, MPI_Info info,                \
                           MPI_Request* request) {                                                 \
    NeighborBlocks blocks{.kind = NeighborKind::which};                                            \
    const int error = check(self, comm, {send}, {receive}, &blocks);                               \
    return error != MPI_SUCCESS ? error : prepare(self, comm, blocks, info, request);              \
  }

SORREL_NEIGHBOR_BODIES(allgather, allgather_init, allgather, UserBuffer, UserBuffer, check_gather)
SORREL_NEIGHBOR_BODIES(
    allgatherv, allgatherv_init, allgatherv, UserBuffer, UserBlocks, check_gather)
SORREL_NEIGHBOR_BODIES(alltoall, alltoall_init, alltoall, UserBuffer, UserBuffer, check_all_to_all)
SORREL_NEIGHBOR_BODIES(
    alltoallv, alltoallv_init, alltoallv, UserBlocks, UserBlocks, check_all_to_all)
SORREL_NEIGHBOR_BODIES(
    alltoallw, alltoallw_init, alltoallw, UserBlocks, UserBlocks, check_all_to_all)

#undef SORREL_NEIGHBOR_BODIES

}  // namespace body

}  // namespace sorrel::abi
