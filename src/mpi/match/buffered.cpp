#include "mpi/match/buffered.hpp"

#include <cstdlib>
#include <limits>

#include "mpi/datatype/copy.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/match/receive.hpp"

namespace sorrel::mpi {

namespace {

/// What a message takes of the attached buffer beside its data. The standard lets it be as much as
/// MPI_BSEND_OVERHEAD; less also serves programs that count on the smaller overhead of other MPIs.
constexpr std::size_t overhead_bytes = 64;
static_assert(overhead_bytes <= MPI_BSEND_OVERHEAD);

BufferedSends& made(BufferedSendsPointer& place) {
  if (place == nullptr) place.reset(new BufferedSends);
  return *place;
}

/// The buffer used by a send over `comm`: the communicator's, else its session's, else the rank's.
BufferedSends& buffer_for(RankState& self, Comm& comm) {
  for (BufferedSends* sends : {comm.buffered_sends.get(), comm.session_sends.get()})
    if (sends != nullptr && sends->is_attached) return *sends;
  return buffered_sends_of(self);
}

std::size_t free_bytes(const BufferedSends& sends) {
  if (!sends.is_attached) return 0;
  if (sends.buffer == MPI_BUFFER_AUTOMATIC) return std::numeric_limits<std::size_t>::max();
  SORREL_ASSERT(sends.bytes_in_use <= sends.bytes);
  return sends.bytes - sends.bytes_in_use;
}

}  // namespace

void BufferedSendsDeleter::operator()(BufferedSends* sends) const {
  delete sends;
}

BufferedSends& buffered_sends_of(RankState& self) {
  return made(self.buffered_sends);
}

BufferedSends& buffered_sends_of(Comm& comm) {
  return made(comm.buffered_sends);
}

int attach_buffer(RankState& self, BufferedSends& sends, void* buffer, std::size_t bytes) {
  if (sends.is_attached)
    return self.fail(MPI_ERR_BUFFER, "a buffer of %zu bytes is already attached; detach it first",
                     sends.bytes);
  sends.buffer = buffer;
  sends.bytes = bytes;
  sends.is_attached = true;
  return MPI_SUCCESS;
}

int detach_buffer(RankState& self, BufferedSends& sends, void** buffer, std::size_t* bytes) {
  if (!sends.is_attached)
    return self.fail(MPI_ERR_BUFFER, "no buffer is attached that could be detached");
  flush_buffer(self, sends);
  SORREL_ASSERT(sends.bytes_in_use == 0 && sends.flush_requests.empty());
  *buffer = sends.buffer;
  *bytes = sends.bytes;
  sends.is_attached = false;
  return MPI_SUCCESS;
}

void flush_buffer(RankState& self, BufferedSends& sends) {
  if (sends.bytes_in_use == 0) return;
  const RankWait wait(self, WaitRecord::Kind::requests, nullptr);
  sends.flushers.push(self.worker->running());
  self.worker->suspend();
}

Request& start_flush(RankState& self, Comm& comm, BufferedSends& sends) {
  Request& request = make_receive(self, comm,
                                  {.buffer = nullptr,
                                   .count = 0,
                                   .type = *datatype_from_handle(MPI_BYTE),
                                   .source = MPI_PROC_NULL,
                                   .tag = MPI_ANY_TAG});
  activate(request);
  if (sends.bytes_in_use == 0) {
    complete(request);
  } else {
    sends.flush_requests.push_back(&request);
  }
  return request;
}

int buffered_send(RankState& self, Comm& comm, const SendArguments& arguments) {
  BufferedSends& sends = buffer_for(self, comm);
  const std::size_t bytes = arguments.count * arguments.type.size();
  const std::size_t charge = bytes + overhead_bytes;
  if (charge > free_bytes(sends)) {
    return self.fail(MPI_ERR_BUFFER,
                     "the message needs %zu bytes of the attached buffer; %zu are free", charge,
                     free_bytes(sends));
  }
  void* copied = std::malloc(bytes + 1);
  if (copied == nullptr)
    return self.fail(MPI_ERR_NO_MEM, "out of memory: cannot copy a message of %zu bytes", bytes);
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
  request.duties.owns_buffer = true;
  release_handle(request);
  request.buffered_charge = charge;
  request.charged = &sends;
  sends.bytes_in_use += charge;
  start_send(request);
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
