#include "mpi/collectives/traffic.hpp"

#include "mpi/collectives/move.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/match/start.hpp"
#include "mpi/match/wait.hpp"

namespace sorrel::mpi {

namespace {

SendArguments send_arguments(const TypedBuffer& from, std::int32_t destination, std::int32_t tag) {
  // A request holds a reference to its type.
  return {.buffer = from.buffer,
          .count = from.count,
          .type = const_cast<Datatype&>(*from.type),
          .destination = destination,
          .tag = tag};
}

ReceiveArguments receive_arguments(const TypedBuffer& into, std::int32_t source, std::int32_t tag) {
  return {.buffer = into.buffer,
          .count = into.count,
          .type = const_cast<Datatype&>(*into.type),
          .source = source,
          .tag = tag};
}

/// A receive of a collective in which all members pass the same amount of data.
bool has_too_little(const Request& request) {
  switch (request.comm->call.kind()) {
    case CollectiveKind::bcast:
    case CollectiveKind::gather:
    case CollectiveKind::scatter:
    case CollectiveKind::allgather:
    case CollectiveKind::alltoall:
      return is_short(request);
    default:
      return false;
  }
}

}  // namespace

bool is_short(const Request& request) {
  return request.kind == Request::Kind::receive && request.error == MPI_SUCCESS &&
         request.status_bytes < request.element_count * request.type->size();
}

Traffic::Traffic(const Member& member) : member_(member), tag_(tag_of(member)) {}

void Traffic::send(const TypedBuffer& from, std::int32_t destination) {
  const SendArguments arguments = send_arguments(from, destination, tag_);
  if (try_send(member_.self, member_.comm, arguments, SendMode::standard)) return;
  Request& request = make_send(member_.self, member_.comm, arguments, SendMode::standard);
  activate(request);
  start_send_by_reference(request);
  requests_.push_back(handle_of(request));
}

void Traffic::receive(const TypedBuffer& into, std::int32_t source) {
  Request& request =
      make_receive(member_.self, member_.comm, receive_arguments(into, source, tag_));
  requests_.push_back(handle_of(request));
  (void)start(request);
}

int Traffic::finish() {
  const RequestList list{requests_.data(), static_cast<std::int32_t>(requests_.size())};
  PendingCounts pending;
  for (std::int32_t i = 0; i < list.count; ++i)
    pending.add(*list[i]);
  wait_for_all(member_.self, list, pending);
  int error = MPI_SUCCESS;
  for (std::int32_t i = 0; i < list.count; ++i) {
    record_error(error, list[i]->error);
    if (is_exact_ ? is_short(*list[i]) : has_too_little(*list[i]))
      record_error(error, MPI_ERR_TRUNCATE);
    conclude(*list[i], MPI_STATUS_IGNORE);
  }
  requests_.clear();
  return error;
}

std::int32_t tag_of(const Member& member) {
  return collective_tag(member.comm.call.kind());
}

void send_now(const Member& member,
              const TypedBuffer& from,
              std::int32_t destination,
              std::int32_t tag) {
  send(member.self, member.comm, send_arguments(from, destination, tag), SendMode::standard);
}

void receive_now(const Member& member,
                 const TypedBuffer& into,
                 std::int32_t source,
                 std::int32_t tag) {
  Request request;
  describe_receive(request, member.self, member.comm, receive_arguments(into, source, tag));
  start_receive(request);
  wait_for(request);
}

}  // namespace sorrel::mpi
