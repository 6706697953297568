#include "mpi/p2p/buffered.hpp"

#include <cstdlib>
#include <new>

#include "mpi/datatype/copy.hpp"
#include "mpi/p2p/wait.hpp"
#include "mpi/rank_state.hpp"

namespace sorrel::mpi {

namespace {

BufferedSends& sends_of(RankState& self) {
  if (self.buffered_sends == nullptr) {
    self.buffered_sends = {new BufferedSends, [](BufferedSends* sends) { delete sends; }};
  }
  return *self.buffered_sends;
}

}  // namespace

int attach_buffer(RankState& self, void* buffer, std::size_t bytes) {
  BufferedSends& sends = sends_of(self);
  if (sends.is_attached)
    return self.fail(MPI_ERR_BUFFER, "a buffer of %zu bytes is attached already", sends.bytes);
  sends.buffer = buffer;
  sends.bytes = bytes;
  sends.is_attached = true;
  return MPI_SUCCESS;
}

int detach_buffer(RankState& self, void** buffer, std::size_t* bytes) {
  BufferedSends& sends = sends_of(self);
  if (!sends.is_attached) return self.fail(MPI_ERR_BUFFER, "no buffer is attached");
  flush_buffer(self);
  *buffer = sends.buffer;
  *bytes = sends.bytes;
  sends.is_attached = false;
  return MPI_SUCCESS;
}

void flush_buffer(RankState& self) {
  BufferedSends& sends = sends_of(self);
  if (sends.bytes_in_use == 0) return;
  sends.flusher = &self.fiber;
  self.wait = {.kind = WaitNote::Kind::requests};
  self.wait_detail = {};
  self.worker->suspend();
  self.wait.kind = WaitNote::Kind::none;
}

int buffered_send(RankState& self, Comm& comm, const SendArguments& arguments) {
  BufferedSends& sends = sends_of(self);
  const std::size_t bytes = arguments.count * arguments.type.size();
  const std::size_t charge = bytes + MPI_BSEND_OVERHEAD;
  if (!sends.is_attached || charge > sends.bytes - sends.bytes_in_use) {
    return self.fail(MPI_ERR_BUFFER, "the message needs %zu bytes of attached buffer, %zu are free",
                     charge, sends.is_attached ? sends.bytes - sends.bytes_in_use : 0);
  }
  void* copied = std::malloc(bytes + 1);
  if (copied == nullptr) return self.fail(MPI_ERR_NO_MEM, "no memory for %zu bytes", bytes);
  Datatype& byte = *datatype_from_handle(MPI_BYTE);
  copy(arguments.buffer, arguments.count, arguments.type, copied, bytes, byte);
  Request& request = take_request(self, comm, byte);
  describe_send(request, self, comm,
                {.buffer = copied,
                 .count = bytes,
                 .type = byte,
                 .destination = arguments.destination,
                 .tag = arguments.tag},
                SendMode::buffered);
  request.duties = {.owns_buffer = true, .is_released = true};
  request.buffered_charge = charge;
  sends.bytes_in_use += charge;
  start_send(request);
  return MPI_SUCCESS;
}

void free_owned_buffer(Request& request) {
  std::free(request.buffer);
  if (request.buffered_charge == 0) return;
  BufferedSends& sends = *request.owner->buffered_sends;
  sends.bytes_in_use -= request.buffered_charge;
  if (sends.bytes_in_use == 0 && sends.flusher != nullptr) {
    request.owner->worker->make_ready(*sends.flusher);
    sends.flusher = nullptr;
  }
}

}  // namespace sorrel::mpi
