#include "mpi/job/ports.hpp"

#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/traffic.hpp"
#include "mpi/job/intercomm.hpp"
#include "mpi/job/job_comm.hpp"
#include "mpi/job/process_world.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::int32_t port_is_closed = -1;

/// What a root has found, as all members of its group know it.
struct Found {
  int error = MPI_SUCCESS;
  std::int32_t peer = 0;
  std::int32_t tag = 0;
};

TypedBuffer number(std::int32_t& value) {
  return {.buffer = &value, .count = 1, .type = datatype_from_handle(MPI_INT32_T)};
}

/// At a root. May suspend.
Found find_peer(RankState& self, const char* port_name, PortTable::Side side) {
  const Member member{self, job_comm_of(self)};
  const PortTable::Meeting meeting = ports_of(self).meet(port_name, side, self.world_rank);
  const std::int32_t tag = meeting.caller.ticket;
  switch (meeting.outcome) {
    case PortTable::Outcome::no_port:
      return {.error = MPI_ERR_PORT};
    case PortTable::Outcome::meets: {
      learn_rank(*self.world, meeting.caller.rank);
      std::int32_t own = self.world_rank;
      send_now(member, number(own), meeting.caller.rank, group_creation_tag(tag));
      return {.peer = meeting.caller.rank, .tag = tag};
    }
    case PortTable::Outcome::waits:
      break;
  }
  std::int32_t peer = 0;
  receive_now(member, number(peer), MPI_ANY_SOURCE, group_creation_tag(tag));
  if (peer == port_is_closed) return {.error = MPI_ERR_PORT};
  learn_rank(*self.world, peer);
  return {.peer = peer, .tag = tag};
}

void tell_closed(RankState& self, const std::vector<PortTable::Caller>& callers) {
  for (const PortTable::Caller& caller : callers) {
    learn_rank(*self.world, caller.rank);
    std::int32_t answer = port_is_closed;
    send_now({self, job_comm_of(self)}, number(answer), caller.rank,
             group_creation_tag(caller.ticket));
  }
}

}  // namespace

PortService& ports_of(const RankState& self) {
  return static_cast<ProcessWorld&>(*self.world).ports();
}

int meet_at_port(RankState& self,
                 Comm& comm,
                 int error,
                 const char* port_name,
                 PortTable::Side side,
                 std::int32_t root,
                 Comm** result) {
  *result = nullptr;
  Found found{.error = error};
  if (comm.rank == root && error == MPI_SUCCESS) found = find_peer(self, port_name, side);
  const TypedBuffer buffer{
      .buffer = &found, .count = sizeof found, .type = datatype_from_handle(MPI_BYTE)};
  comm.call = CollectiveCall(
      {.kind = CollectiveKind::intercomm_create, .root = root, .bytes = buffer.bytes()});
  error = broadcast({self, comm}, buffer, root);
  if (error != MPI_SUCCESS) return error;
  if (found.error == MPI_ERR_PORT)
    return self.fail(found.error, "port_name is not an open port of this job at the root");
  if (found.error != MPI_SUCCESS) return self.fail(found.error, "a wrong argument at the root");
  Comm* job = comm.rank == root ? &job_comm_of(self) : nullptr;
  return intercomm_create(self, comm, root, {.comm = job, .rank = found.peer, .tag = found.tag},
                          result);
}

int close_port(RankState& self, const std::string& name) {
  const auto callers = ports_of(self).close(name);
  if (!callers) return self.fail(MPI_ERR_PORT, "port_name is not an open port of this job");
  tell_closed(self, *callers);
  return MPI_SUCCESS;
}

void close_ports_of(RankState& self) {
  tell_closed(self, ports_of(self).own().close_all_of(self.world_rank));
}

int join_rank(RankState& self, std::int32_t peer, std::int32_t tag, Comm** result) {
  learn_rank(*self.world, peer);
  return intercomm_create(self, self.self_comm, 0,
                          {.comm = &job_comm_of(self), .rank = peer, .tag = tag}, result);
}

}  // namespace sorrel::mpi
