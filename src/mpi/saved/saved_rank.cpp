#include "mpi/saved/saved_rank.hpp"

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "mpi/match/request.hpp"
#include "mpi/match/unexpected.hpp"
#include "mpi/op/op.hpp"
#include "mpi/saved/lists.hpp"
#include "mpi/saved/saved_comm.hpp"
#include "mpi/saved/saved_file.hpp"
#include "mpi/saved/saved_info.hpp"
#include "mpi/saved/saved_services.hpp"
#include "mpi/saved/saved_type.hpp"

namespace sorrel::mpi {

namespace {

/// The communicators that every rank has, and the contexts of their messages.
struct Contexts {
  std::uint32_t world;
  std::uint32_t self;
};

Contexts contexts_of(const RankState& rank) {
  return {.world = rank.world_comm.shared->context(), .self = rank.self_comm.shared->context()};
}

/// How many references an object has.
struct ReferenceCount {
  ObjectType type;
  void* object;
  std::int64_t count;
};

std::int64_t reference_count_of(ObjectType type, const void* object) {
  switch (type) {
    case ObjectType::comm:
      return static_cast<const Comm*>(object)->reference_count;
    case ObjectType::datatype:
      return static_cast<const Datatype*>(object)->reference_count();
    case ObjectType::op:
      return static_cast<const Op*>(object)->reference_count();
    case ObjectType::errhandler:
      return static_cast<const Errhandler*>(object)->reference_count;
    default:
      return 0;
  }
}

/// Objects were made again one after the other, and have counted those that came before them.
void set_reference_count(const ReferenceCount& saved) {
  switch (saved.type) {
    case ObjectType::comm:
      static_cast<Comm*>(saved.object)->reference_count = static_cast<std::int32_t>(saved.count);
      break;
    case ObjectType::datatype:
      static_cast<Datatype*>(saved.object)
          ->set_reference_count(static_cast<std::uint32_t>(saved.count));
      break;
    case ObjectType::op:
      static_cast<Op*>(saved.object)->set_reference_count(static_cast<std::uint32_t>(saved.count));
      break;
    case ObjectType::errhandler:
      static_cast<Errhandler*>(saved.object)->reference_count =
          static_cast<std::int32_t>(saved.count);
      break;
    default:
      break;
  }
}

/// Which communicator a persistent request is for: those that every rank has lie in its state, not
/// in its memory.
enum class CommOfRequest : std::uint32_t { made_by_program, world, self };

CommOfRequest comm_of(const Request& request) {
  const RankState& owner = *request.owner;
  if (request.comm == &owner.world_comm) return CommOfRequest::world;
  return request.comm == &owner.self_comm ? CommOfRequest::self : CommOfRequest::made_by_program;
}

/// Its memory is restored.
void restore_request(RankState& rank, Request& request, ByteCursor& from) {
  request.owner = &rank;
  const auto comm = from.take<CommOfRequest>();
  if (comm == CommOfRequest::world) request.comm = &rank.world_comm;
  if (comm == CommOfRequest::self) request.comm = &rank.self_comm;
}

/// False: the object need not exist in the other process.
bool save_object(ObjectType type, const void* object, ByteWriter& to) {
  switch (type) {
    case ObjectType::comm: {
      const auto& comm = *static_cast<const Comm*>(object);
      if (is_shadow_view(comm)) return false;
      save_comm(comm, to);
      return true;
    }
    case ObjectType::group:
      save_group(*static_cast<const GroupHandle*>(object)->group, to);
      return true;
    case ObjectType::datatype:
      save_type(*static_cast<const Datatype*>(object), to);
      return true;
    case ObjectType::info:
      save_info(*static_cast<const Info*>(object), to);
      return true;
    case ObjectType::file:
      save_file(*static_cast<const File*>(object), to);
      return true;
    case ObjectType::request:
      to.add(comm_of(*static_cast<const Request*>(object)));
      return true;
    default:
      // Its memory is all that it has.
      return true;
  }
}

/// Constructors of datatypes make further ones, so the last one is brought to its address.
bool restore_type_at(void* address, ByteCursor& from) {
  Datatype* made = restore_type(from);
  if (made == nullptr) return false;
  // Its members are numbers and pointers, and no other object points to it.
  std::memcpy(address, static_cast<const void*>(made), sizeof *made);
  release_object(made);
  return true;
}

/// At its address. Returns an error, or "".
std::string restore_object(
    RankState& rank, ObjectType type, void* object, SharedParts& parts, ByteCursor& from) {
  if (type == ObjectType::datatype) {
    if (!restore_type_at(object, from)) return "the record of a datatype is damaged";
    list_object(type, object, rank.objects);
    return "";
  }
  const ObjectPlace place(type, object, rank.objects);
  switch (type) {
    case ObjectType::comm:
      return restore_comm(rank, *new Comm, parts, from) ? ""
                                                        : "the record of a communicator is damaged";
    case ObjectType::group:
      new GroupHandle{.group = parts.group(from), .session_sends = nullptr};
      return "";
    case ObjectType::info:
      restore_info(*new Info, from);
      return "";
    case ObjectType::file:
      return restore_file(rank, parts, from);
    case ObjectType::request:
      restore_request(rank, *static_cast<Request*>(object), from);
      break;
    default:
      break;
  }
  list_object(type, object, rank.objects);
  return "";
}

}  // namespace

void save_messages(const RankState& rank, ByteWriter& to) {
  to.add(rank.thread_level);
  to.add(rank.calling_level);
  to.add(contexts_of(rank));
  std::uint64_t count = 0;
  rank.unexpected.for_each([&](const MatchEntry&) { ++count; });
  to.add(count);
  rank.unexpected.for_each([&](const MatchEntry& entry) {
    const auto& message = static_cast<const Message&>(entry);
    to.add(message.envelope);
    to.add_block({reinterpret_cast<const char*>(message.payload), message.bytes});
  });
}

bool restore_messages(RankState& rank, ByteCursor& from) {
  rank.phase = rank.world_phase = Phase::running;
  rank.thread_level = from.take<int>();
  rank.calling_level = from.take<int>();
  const auto saved = from.take<Contexts>();
  const Contexts own = contexts_of(rank);
  for (auto left = from.take<std::uint64_t>(); left > 0 && from.is_good(); --left) {
    auto envelope = from.take<Envelope>();
    const std::string_view data = from.take_block();
    if (!from.is_good()) return false;
    if (envelope.context == saved.self) envelope.context = own.self;
    if (!add_copy(rank, envelope, packed_data(data.data(), data.size()),
                  core::MessagePool::WhenFull::exceed))
      return false;
  }
  return from.is_good();
}

void save_objects(RankState& rank, ByteWriter& to) {
  save_services(rank, to);
  for (const Comm* comm : {&rank.world_comm, &rank.self_comm}) {
    save_settings(*comm, to);
    to.add(comm->reference_count);
  }
  std::vector<ReferenceCount> counts;
  // Files come last: their views have types that may have been made later.
  for (const bool are_files : {false, true}) {
    std::uint64_t count = 0;
    ByteWriter records;
    for (ObjectNode* node = rank.objects.front(); node != nullptr;
         node = rank.objects.next_of(*node)) {
      if ((node->type == ObjectType::file) != are_files) continue;
      void* const object = object_of(*node);
      ByteWriter record;
      if (!save_object(node->type, object, record)) continue;
      records.add(node->type);
      records.add(object);
      records.add_block(record.bytes());
      counts.push_back(
          {.type = node->type, .object = object, .count = reference_count_of(node->type, object)});
      ++count;
    }
    to.add(count);
    to.add_block(records.bytes());
  }
  add_list<ReferenceCount>(to, counts);
}

std::string restore_objects(RankState& rank, SharedParts& parts, ByteCursor& from) {
  const char* const damaged = "the record of its objects is damaged";
  restore_services(rank, from);
  for (Comm* comm : {&rank.world_comm, &rank.self_comm}) {
    restore_settings(rank, *comm, from);
    comm->reference_count = from.take<std::int32_t>();
  }
  for (int kind = 0; kind < 2; ++kind) {
    const auto count = from.take<std::uint64_t>();
    const std::string_view bytes = from.take_block();
    ByteCursor records(std::as_bytes(std::span(bytes)));
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto type = records.take<ObjectType>();
      void* const object = records.take<void*>();
      const std::string_view record = records.take_block();
      if (!records.is_good()) return damaged;
      ByteCursor cursor(std::as_bytes(std::span(record)));
      if (std::string error = restore_object(rank, type, object, parts, cursor); !error.empty())
        return error;
    }
  }
  for (const ReferenceCount& count : take_list<ReferenceCount>(from))
    set_reference_count(count);
  return from.is_good() && from.at_end() ? "" : damaged;
}

}  // namespace sorrel::mpi
