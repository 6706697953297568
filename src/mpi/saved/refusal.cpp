#include "mpi/saved/refusal.hpp"

#include <algorithm>
#include <array>

#include "base/hash.hpp"
#include "mpi/collectives/outstanding.hpp"
#include "mpi/comm/incomplete_comm.hpp"
#include "mpi/io/rank_files.hpp"
#include "mpi/match/buffered_sends.hpp"
#include "mpi/match/remote.hpp"
#include "mpi/match/request.hpp"
#include "mpi/saved/saved_comm.hpp"
#include "mpi/saved/saved_file.hpp"

namespace sorrel::mpi {

namespace {

constexpr const char* attached_buffer = "it has attached a buffer (MPI_Buffer_attach)";
constexpr const char* incomplete =
    "it has a duplicate of a communicator in progress (MPI_Comm_idup)";
constexpr const char* nonblocking = "it has a nonblocking collective in progress";
constexpr const char* other_collective =
    "it is in another collective of a communicator than other members";

/// What was detached has left a record without contents.
bool has_buffer(const BufferedSendsPointer& sends) {
  return sends != nullptr && sends->is_attached;
}

bool has_nonblocking(const Comm& comm) {
  return comm.outstanding != nullptr && !comm.outstanding->is_idle();
}

const char* reason_not_regrouped(const Comm& comm, MemberCounts& counts) {
  if (comm.header.kind == incomplete_comm_kind) return incomplete;
  if (has_nonblocking(comm)) return nonblocking;
  return counts.agree(comm) ? nullptr : other_collective;
}

const char* reason_for(const Comm& comm, MemberCounts& counts) {
  if (comm.header.kind == incomplete_comm_kind) return incomplete;
  if (has_buffer(comm.buffered_sends) || comm.session_sends != nullptr) return attached_buffer;
  if (comm.released_count != 0) return "it has freed a request that is in progress";
  return reason_not_regrouped(comm, counts);
}

const char* reason_for(const Request& request) {
  if (request.is_active) return "it has started a persistent request and not waited for it";
  return nullptr;
}

/// A view of a communicator without a handle, for nonblocking collectives.
bool is_own_of_library(ObjectNode& node) {
  if (node.type != ObjectType::comm) return false;
  const auto& comm = *static_cast<const Comm*>(object_of(node));
  return comm.header.kind != incomplete_comm_kind && is_shadow_view(comm);
}

const char* reason_for(ObjectType type, const void* object, MemberCounts& counts) {
  switch (type) {
    case ObjectType::comm:
      return reason_for(*static_cast<const Comm*>(object), counts);
    case ObjectType::group:
      return static_cast<const GroupHandle*>(object)->session_sends == nullptr ? nullptr
                                                                               : attached_buffer;
    case ObjectType::datatype:
      return static_cast<const Datatype*>(object)->recipe() == nullptr
                 ? "it has a datatype that this library has made"
                 : nullptr;
    case ObjectType::session:
      return "it has a session";
    case ObjectType::win:
      return "it has a window";
    case ObjectType::file:
      return reason_not_saved(*static_cast<const File*>(object));
    case ObjectType::request:
      return reason_for(*static_cast<const Request*>(object));
    case ObjectType::op:
    case ObjectType::errhandler:
    case ObjectType::info:
    case ObjectType::attributes:
      return nullptr;
  }
  return "it has an object of MPI";
}

const char* reason_for_objects(RankState& rank,
                               std::span<const os::MemoryRange> memory,
                               MemberCounts& counts) {
  // First, since other objects belong to them.
  for (const ObjectType type : {ObjectType::session, ObjectType::win}) {
    const auto is_of_type = [type](const ObjectNode& node) { return node.type == type; };
    if (rank.objects.find_if(is_of_type) != nullptr) return reason_for(type, nullptr, counts);
  }
  for (ObjectNode* node = rank.objects.front(); node != nullptr;
       node = rank.objects.next_of(*node)) {
    // Made again when it is needed.
    if (is_own_of_library(*node)) continue;
    const auto address = reinterpret_cast<std::uintptr_t>(node);
    const bool is_saved = std::ranges::any_of(memory, [address](const os::MemoryRange& range) {
      return address >= range.begin && address < range.end;
    });
    if (!is_saved) return "it has an object of MPI that a thread or a nonblocking call has made";
    if (const char* reason = reason_for(node->type, object_of(*node), counts); reason != nullptr)
      return reason;
  }
  return nullptr;
}

const char* reason_for(const RankServices& services) {
  if (services.tool != nullptr) return "it has used the tool interface (MPI_T)";
  const auto* files = static_cast<const RankFiles*>(services.files.get());
  if (files != nullptr && !files->representations.are_predefined())
    return "it has registered a data representation";
  return nullptr;
}

/// A rank that has changed its worker has requests in the pools of both.
const char* reason_for_requests(const RankState& rank) {
  const char* reason = nullptr;
  const World& world = *rank.world;
  for (std::uint32_t i = 0; i < world.layout().worker_count(); ++i) {
    world.state_of(world.worker(i)).requests.for_each_taken([&](const Request& request) {
      if (request.owner != &rank) return;
      reason = request.life == Request::Life::persistent
                   ? "it has a persistent request of a collective"
                   : "it has a request that was not waited for";
    });
  }
  return reason;
}

}  // namespace

bool MemberCounts::agree(const Comm& comm) {
  const Counts own{
      .barriers = comm.barrier_count,
      .nonblocking = comm.outstanding == nullptr ? 0 : comm.outstanding->started_count()};
  const std::array<std::uint32_t, 4> described = {
      comm.shared->context(), comm.inter == nullptr ? 0U : 1U, own.barriers, own.nonblocking};
  const std::uint64_t hash =
      hash_of({reinterpret_cast<const char*>(described.data()), sizeof described});
  difference_ += hash;
  if (comm.rank == 0) difference_ -= static_cast<std::uint64_t>(comm.size()) * hash;
  return counts_.try_emplace(comm.shared, own).first->second == own;
}

const char* reason_not_regrouped(RankState& rank, MemberCounts& counts) {
  for (const Comm* comm : {&rank.world_comm, &rank.self_comm}) {
    if (const char* reason = reason_not_regrouped(*comm, counts); reason != nullptr) return reason;
  }
  for (ObjectNode* node = rank.objects.front(); node != nullptr;
       node = rank.objects.next_of(*node)) {
    if (node->type != ObjectType::comm || is_own_of_library(*node)) continue;
    const auto& comm = *static_cast<const Comm*>(object_of(*node));
    const char* reason = reason_not_regrouped(comm, counts);
    if (reason != nullptr) return reason;
  }
  return nullptr;
}

const char* reason_not_moved(RankState& rank, std::span<const os::MemoryRange> memory) {
  // The other members are not asked here.
  MemberCounts counts;
  if (const char* reason = reason_not_saved(rank, memory, counts); reason != nullptr) return reason;
  const auto is_file = [](const ObjectNode& node) { return node.type == ObjectType::file; };
  if (rank.objects.find_if(is_file) != nullptr) return "it has an open file (MPI_File_open)";
  if (rank.window_count != 0) return "it has a window";
  if (rank.arriving_count != 0) return "data of a message is on its way to it";
  const char* reason = nullptr;
  rank.unexpected.for_each([&](const MatchEntry& entry) {
    const auto& message = static_cast<const Message&>(entry);
    if (!is_copied(message)) reason = "it has not received a message whose data is with its sender";
  });
  return reason;
}

const char* reason_not_saved(RankState& rank,
                             std::span<const os::MemoryRange> memory,
                             MemberCounts& counts) {
  if (!is_running(rank.phase) || rank.world_phase != Phase::running)
    return "it is not between MPI_Init and MPI_Finalize";
  if (rank.session_count != 0) return "it has a session";
  if (rank.set_aside_count != 0) return "it has not received the message of a matched probe";
  if (has_buffer(rank.buffered_sends)) return attached_buffer;
  if (rank.waiting_thread_count != 0) return "a thread of it waits in a call";
  if (const char* reason = reason_for_requests(rank); reason != nullptr) return reason;
  if (rank.services_if_used != nullptr) {
    if (const char* reason = reason_for(*rank.services_if_used); reason != nullptr) return reason;
  }
  for (const Comm* comm : {&rank.world_comm, &rank.self_comm}) {
    if (const char* reason = reason_for(*comm, counts); reason != nullptr) return reason;
  }
  return reason_for_objects(rank, memory, counts);
}

}  // namespace sorrel::mpi
