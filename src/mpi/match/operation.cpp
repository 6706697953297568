#include "mpi/match/operation.hpp"

namespace sorrel::mpi {

Request& make_operation_request(RankState& self, Comm& comm, Operation& operation) {
  Datatype& no_type = *datatype_from_handle(MPI_BYTE);
  Request& request = take_request(self, comm, no_type);
  request.kind = Request::Kind::operation;
  request.life = Request::Life::operation;
  request.owner = &self;
  request.comm = &comm;
  request.operation = &operation;
  request.type = &no_type;
  request.buffer = nullptr;
  request.element_count = 0;
  request.status_source = MPI_ANY_SOURCE;
  return request;
}

void end_operation(Request& request) {
  SORREL_ASSERT(request.kind == Request::Kind::operation && is_on_worker_of(*request.owner));
  SORREL_ASSERT(request.completion.is_done() || !request.is_active,
                "the operation is still in progress");
  request.operation->end();
  release(*request.comm);
  request.owner->worker_state->requests.give_back(request);
}

}  // namespace sorrel::mpi
