#include "runtime/checkpoint/saved_state.hpp"

#include <string_view>

#include "mpi/match/request.hpp"
#include "mpi/match/unexpected.hpp"

namespace sorrel::runtime {

namespace {

const MPI_Errhandler predefined_handlers[] = {MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT,
                                              MPI_ERRORS_RETURN};

const char* reason_for(mpi::ObjectType type) {
  switch (type) {
    case mpi::ObjectType::comm:
      return "it has made a communicator";
    case mpi::ObjectType::group:
      return "it has a group";
    case mpi::ObjectType::datatype:
      return "it has made a datatype";
    case mpi::ObjectType::op:
      return "it has made a reduction operation";
    case mpi::ObjectType::errhandler:
      return "it has made an error handler";
    case mpi::ObjectType::info:
      return "it has an info object";
    case mpi::ObjectType::session:
      return "it has a session";
    case mpi::ObjectType::win:
      return "it has a window";
    case mpi::ObjectType::file:
      return "it has an open file of MPI";
  }
  return "it has an object of MPI";
}

const char* reason_for(const mpi::Comm& comm) {
  if (comm.attributes != nullptr) return "it has set an attribute of a communicator";
  if (comm.info != nullptr) return "it has given a communicator an info object";
  if (comm.buffered_sends != nullptr) return "it has attached a buffer (MPI_Buffer_attach)";
  if (comm.outstanding != nullptr) return "it has used nonblocking collectives";
  if (comm.partitioned != nullptr) return "it has used partitioned messages";
  return nullptr;
}

/// A rank that has changed its worker has requests in the pools of both.
const char* reason_for_requests(const mpi::RankState& rank) {
  const char* reason = nullptr;
  const mpi::World& world = *rank.world;
  for (std::uint32_t i = 0; i < world.layout().worker_count(); ++i) {
    world.state_of(world.worker(i)).requests.for_each_taken([&](const mpi::Request& request) {
      if (request.owner != &rank) return;
      reason = request.life == mpi::Request::Life::persistent
                   ? "it has a persistent request"
                   : "it has a request that was not waited for";
    });
  }
  return reason;
}

void save_comm(const mpi::Comm& comm, ByteWriter& to) {
  std::uint8_t handler = 0;
  while (mpi::errhandler_of(predefined_handlers[handler]) != comm.errhandler)
    ++handler;
  to.add(handler);
  to.add(comm.name != nullptr);
  if (comm.name != nullptr) to.add_block(*comm.name);
}

bool restore_comm(mpi::Comm& comm, ByteCursor& from) {
  const auto handler = from.take<std::uint8_t>();
  if (handler >= std::size(predefined_handlers)) return false;
  comm.errhandler = mpi::errhandler_of(predefined_handlers[handler]);
  if (from.take<bool>()) comm.name = std::make_unique<std::string>(from.take_block());
  return from.is_good();
}

/// The communicators that every rank has, and the contexts of their messages.
struct Contexts {
  std::uint32_t world;
  std::uint32_t self;
};

Contexts contexts_of(const mpi::RankState& rank) {
  return {.world = rank.world_comm.shared->context(), .self = rank.self_comm.shared->context()};
}

}  // namespace

const char* reason_not_saved(mpi::RankState& rank) {
  if (rank.phase != mpi::Phase::running || rank.world_phase != mpi::Phase::running)
    return "it is not between MPI_Init and MPI_Finalize";
  if (rank.session_count != 0) return "it has a session";
  if (rank.set_aside_count != 0) return "it has not received the message of a matched probe";
  if (rank.buffered_sends != nullptr) return "it has attached a buffer (MPI_Buffer_attach)";
  if (rank.waiting_thread_count != 0) return "a thread of it waits in a call";
  if (rank.services_if_used != nullptr)
    return "it has used attributes, error codes, handles as integers, MPI_T, files or MPI's "
           "Fortran interface";
  for (const mpi::Comm* comm : {&rank.world_comm, &rank.self_comm}) {
    if (const char* reason = reason_for(*comm); reason != nullptr) return reason;
  }
  if (const mpi::ObjectNode* object = rank.objects.front(); object != nullptr)
    return reason_for(object->type);
  return reason_for_requests(rank);
}

void save_state(const mpi::RankState& rank, ByteWriter& to) {
  to.add(rank.thread_level);
  to.add(rank.calling_level);
  to.add(contexts_of(rank));
  save_comm(rank.world_comm, to);
  save_comm(rank.self_comm, to);
  std::uint64_t count = 0;
  rank.unexpected.for_each([&](const mpi::MatchEntry&) { ++count; });
  to.add(count);
  rank.unexpected.for_each([&](const mpi::MatchEntry& entry) {
    const auto& message = static_cast<const mpi::Message&>(entry);
    to.add(message.envelope);
    to.add_block({reinterpret_cast<const char*>(message.payload), message.bytes});
  });
}

bool restore_state(mpi::RankState& rank, ByteCursor& from) {
  rank.phase = rank.world_phase = mpi::Phase::running;
  rank.thread_level = from.take<int>();
  rank.calling_level = from.take<int>();
  const auto saved = from.take<Contexts>();
  const Contexts own = contexts_of(rank);
  if (!restore_comm(rank.world_comm, from) || !restore_comm(rank.self_comm, from)) return false;
  for (auto left = from.take<std::uint64_t>(); left > 0 && from.is_good(); --left) {
    auto envelope = from.take<mpi::Envelope>();
    const std::string_view data = from.take_block();
    if (!from.is_good()) return false;
    if (envelope.context == saved.self) envelope.context = own.self;
    if (!mpi::add_copy(rank, envelope, mpi::packed_data(data.data(), data.size()),
                       core::MessagePool::WhenFull::exceed))
      return false;
  }
  return from.is_good();
}

}  // namespace sorrel::runtime
