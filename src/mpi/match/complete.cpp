#include "mpi/match/complete.hpp"

#include <cstdlib>
#include <utility>

#include "mpi/match/buffered_sends.hpp"
#include "mpi/match/operation.hpp"

namespace sorrel::mpi {

namespace {

/// Frees the internal copy that a send has left from and, for a buffered send, its share of the
/// attached buffer.
void free_owned_buffer(Request& request) {
  std::free(request.buffer);
  if (request.buffered_charge == 0) return;
  BufferedSends& sends = *request.charged;
  SORREL_ASSERT(sends.bytes_in_use >= request.buffered_charge, "a share is freed twice");
  sends.bytes_in_use -= request.buffered_charge;
  if (sends.bytes_in_use != 0) return;
  request.owner->worker->make_all_ready(sends.flushers);
  for (Request* flush : sends.flush_requests)
    complete(*flush);
  sends.flush_requests.clear();
}

void end_released(Request& request) {
  Comm& comm = *request.comm;
  SORREL_ASSERT(comm.released_count > 0);
  if (--comm.released_count == 0 && comm.disconnecting != nullptr)
    request.owner->worker->make_ready(*std::exchange(comm.disconnecting, nullptr));
  recycle(request);
}

}  // namespace

Request& take_persistent_request(RankState& self, Comm& comm, Datatype& type) {
  Request* request = nullptr;
  if (are_objects_listed()) {
    retain(comm);
    type.retain();
    void* memory = allocate_object(ObjectType::request, sizeof(Request));
    SORREL_CHECK(memory != nullptr, "no memory for a request");
    request = new (memory) Request;
  } else {
    request = &take_request(self, comm, type);
  }
  make_persistent(*request, are_objects_listed());
  return *request;
}

void recycle_lasting(Request& request) {
  if (request.life == Request::Life::operation) return end_operation(request);
  SORREL_ASSERT(is_on_worker_of(*request.owner) && !request.message.is_linked());
  request.type->release();
  release(*request.comm);
  if (request.is_object) {
    request.header.kind = ObjectKind::freed;
    release_object(&request);
  } else {
    request.owner->worker_state->requests.give_back(request);
  }
}

void wait_for_released(RankState& self, Comm& comm) {
  if (comm.released_count == 0) return;
  SORREL_ASSERT(comm.disconnecting == nullptr);
  const RankWait wait(self, WaitRecord::Kind::requests, &comm);
  comm.disconnecting = &self.worker->running();
  self.worker->suspend();
}

void complete_with_duties(Request& request) {
  // First: nothing else happens before the last part has reported.
  if (request.duties.missing_part_count > 1) {
    --request.duties.missing_part_count;
    return;
  }
  const Request::Duties duties = request.duties;
  if (duties.owns_buffer) free_owned_buffer(request);
  if (duties.is_part) {
    Request& main_part = *request.main_part;
    SORREL_ASSERT(!duties.is_released, "the user has no handle of a part");
    if (main_part.kind == Request::Kind::operation) {
      request.completion.complete(*request.owner->worker);
      main_part.operation->finish_part(request);
      return;
    }
    SORREL_ASSERT(main_part.owner == request.owner && main_part.duties.missing_part_count != 0 &&
                      !main_part.completion.is_done(),
                  "the receive of MPI_Isendrecv has not waited for its send");
    recycle(request);
    complete(main_part);
    return;
  }
  request.completion.complete(*request.owner->worker);
  if (duties.is_released) end_released(request);
}

}  // namespace sorrel::mpi
