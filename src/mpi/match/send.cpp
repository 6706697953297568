#include "mpi/match/send.hpp"

#include <array>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "core/perturbation.hpp"
#include "mpi/datatype/copy.hpp"
#include "mpi/datatype/scattered.hpp"
#include "mpi/match/remote.hpp"
#include "mpi/match/unexpected.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::mpi {

namespace {

// Scattered data of fewer bytes is in few cache lines; longer copies take too much memory.
constexpr std::size_t packed_bytes_min = 2048;
constexpr std::size_t packed_bytes_max = std::size_t{1} << 20;

/// The message as it is left for the receiver. Scattered data for another worker is packed into
/// memory of malloc first, by the core whose caches hold it.
class LeftMessage {
 public:
  LeftMessage(const RankState& self, const Comm& comm, const SendArguments& arguments)
      : given_(arguments) {
    const core::Worker* receiver = comm.shared->member(arguments.destination).worker;
    const std::size_t bytes = arguments.count * arguments.type.size();
    if (receiver == self.worker || receiver == nullptr || bytes < packed_bytes_min ||
        bytes > packed_bytes_max || !is_scattered(arguments.type))
      return;
    void* packed = std::malloc(bytes);
    if (packed == nullptr) return;
    pack(arguments.buffer, arguments.count, arguments.type, packed);
    packed_.emplace(SendArguments{.buffer = packed,
                                  .count = bytes,
                                  .type = *datatype_from_handle(MPI_BYTE),
                                  .destination = arguments.destination,
                                  .tag = arguments.tag});
  }

  [[nodiscard]] const SendArguments& arguments() const { return packed_ ? *packed_ : given_; }

  /// The request frees the packed data.
  void pass_to(Request& request) const {
    request.duties.owns_buffer = packed_.has_value();
    request.buffered_charge = 0;
  }

 private:
  const SendArguments& given_;
  std::optional<SendArguments> packed_;
};

}  // namespace

bool try_send_inline(RankState& self,
                     RankState& to,
                     const Comm& comm,
                     const SendArguments& arguments) {
  constexpr std::size_t stack_bytes = 4096;
  if (to.worker == nullptr) return try_send_remote(self, comm, arguments);
  const std::size_t bytes = arguments.count * arguments.type.size();
  if (bytes > to.world->limits().inline_bytes_max || to.worker->pool().is_congested()) return false;
  const void* payload = arguments.buffer;
  std::array<std::byte, stack_bytes> packed;
  if (!arguments.type.is_dense() && bytes != 0) {
    SORREL_ASSERT(bytes <= packed.size(), "inline_bytes_max is above %zu", packed.size());
    pack(arguments.buffer, arguments.count, arguments.type, packed.data());
    payload = packed.data();
  }
  const core::Record record{
      .kind = inline_message_kind,
      .words = {static_cast<std::uint32_t>(to.world_rank), comm.shared->context(),
                static_cast<std::uint32_t>(comm.rank), static_cast<std::uint32_t>(arguments.tag)},
      .payload_bytes = static_cast<std::uint32_t>(bytes)};
  if (core::perturbs_choice(self.worker->id())) return false;
  return self.worker->try_post(*to.worker, record, payload);
}

void start_send_by_reference(Request& request) {
  SORREL_ASSERT(is_on_worker_of(*request.owner) && request.kind == Request::Kind::send);
  SORREL_ASSERT(!request.message.is_linked(), "the request is already a message on its way");
  const Comm& comm = *request.comm;
  RankState& self = *request.owner;
  RankState& to = comm.shared->member(request.peer);
  request.message.envelope = envelope_of(comm, request.tag);
  request.message.bytes = request.element_count * request.type->size();
  request.message.request = &request;
  request.handoff.request = &request;
  request.handoff.destination = &to;
  if (to.worker == self.worker) {
    add_unexpected(to, request.message);
  } else if (to.worker == nullptr) {
    start_remote_send(request);
  } else {
    request.handoff.run = run_referenced_message;
    self.worker->post(*to.worker, request.handoff);
  }
}

void send(RankState& self, Comm& comm, const SendArguments& arguments, SendMode mode) {
  if (try_send_inlined(self, comm, arguments, mode)) return;
  RankState& to = comm.shared->member(arguments.destination);
  const MessageData data = data_of(arguments);
  const bool may_copy = to.worker == self.worker && mode != SendMode::synchronous &&
                        data.bytes <= self.world->limits().eager_bytes_max;
  if (may_copy &&
      add_copy(to, envelope_of(comm, arguments.tag), data, core::MessagePool::WhenFull::fail))
    return;
  Request request;
  const LeftMessage left(self, comm, arguments);
  describe_send(request, self, comm, left.arguments(), mode);
  left.pass_to(request);
  start_send_by_reference(request);
  wait_for(request);
}

Request& start_send_by_reference(RankState& self,
                                 Comm& comm,
                                 const SendArguments& arguments,
                                 SendMode mode) {
  const LeftMessage left(self, comm, arguments);
  Request& request = make_send(self, comm, left.arguments(), mode);
  left.pass_to(request);
  activate(request);
  start_send_by_reference(request);
  return request;
}

void start_send(Request& request) {
  if (try_send_inlined(*request.owner, *request.comm, arguments_of(request), request.mode)) {
    complete(request);
  } else {
    start_send_by_reference(request);
  }
}

}  // namespace sorrel::mpi
