#include "mpi/saved/left_rank.hpp"

#include <algorithm>
#include <vector>

#include "mpi/collectives/outstanding.hpp"
#include "mpi/comm/collective_shadows.hpp"
#include "mpi/match/request.hpp"
#include "mpi/op/op.hpp"
#include "mpi/saved/saved_comm.hpp"

namespace sorrel::mpi {

namespace {

/// But for the library's own, which end with those of the program.
std::vector<Comm*> comms_of(RankState& rank) {
  std::vector<Comm*> comms;
  for (ObjectNode* node = rank.objects.front(); node != nullptr;
       node = rank.objects.next_of(*node)) {
    if (node->type != ObjectType::comm) continue;
    auto* comm = static_cast<Comm*>(object_of(*node));
    if (!is_shadow_view(*comm)) comms.push_back(comm);
  }
  return comms;
}

void end_object(ObjectType type, void* object) {
  switch (type) {
    case ObjectType::group:
      delete static_cast<GroupHandle*>(object);
      break;
    case ObjectType::datatype: {
      auto& datatype = *static_cast<Datatype*>(object);
      // Its other owners are requests, which have ended.
      datatype.set_reference_count(1);
      datatype.release();
      break;
    }
    case ObjectType::op: {
      auto& op = *static_cast<Op*>(object);
      op.set_reference_count(1);
      op.release();
      break;
    }
    case ObjectType::errhandler:
      delete static_cast<Errhandler*>(object);
      break;
    case ObjectType::info:
      delete static_cast<Info*>(object);
      break;
    case ObjectType::request:
      release_object(object);
      break;
    default:
      SORREL_CHECK(false, "a rank with an object of type %u goes to another process",
                   static_cast<unsigned>(type));
  }
}

}  // namespace

void end_objects(RankState& rank) {
  const std::vector<Comm*> comms = comms_of(rank);
  for (Comm* comm : comms) {
    comm->outstanding.reset();
    comm->partitioned.reset();
    // Before the keyvals that they point to.
    comm->attributes.reset();
  }
  for (Comm* comm : {&rank.world_comm, &rank.self_comm}) {
    comm->outstanding.reset();
    comm->partitioned.reset();
    comm->attributes.reset();
    comm->info.reset();
  }
  rank.services_if_used.reset();
  for (Comm* comm : comms) {
    comm->shared->release();
    delete comm;
  }
  // The last one first: datatypes come after those of which they were made, and may end these.
  while (ObjectNode* node = rank.objects.back())
    end_object(node->type, object_of(*node));
}

void begin_anew(RankState& rank, std::span<CommShared* const> moving) {
  const auto is_moving = [&](const CommShared* shared) {
    return std::ranges::binary_search(moving, const_cast<CommShared*>(shared));
  };
  std::vector<Comm*> comms = comms_of(rank);
  comms.insert(comms.end(), {&rank.world_comm, &rank.self_comm});
  for (Comm* comm : comms) {
    if (!is_moving(comm->shared) && !is_moving(local_part_of(*comm).shared)) continue;
    if (comm->outstanding != nullptr) {
      comm->outstanding.reset();
      CollectiveShadows& shadows = local_part_of(*comm).shared->shadows();
      shadows.started_count(comm->rank).store(0, std::memory_order_relaxed);
    }
    comm->barrier_node = nullptr;
    comm->barrier_count = 0;
  }
}

}  // namespace sorrel::mpi
