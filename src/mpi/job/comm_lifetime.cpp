#include "mpi/collectives/slots.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/comm/topology/cart.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

CommShared::CommShared(World& world, std::uint32_t context, std::shared_ptr<const Group> group)
    : world_(world),
      context_(context),
      size_(group->size()),
      group_(std::move(group)),
      members_(world.ranks()) {
  if (!group_->is_world()) {
    own_members_.reserve(static_cast<std::size_t>(group_->size()));
    for (std::int32_t i = 0; i < group_->size(); ++i)
      own_members_.push_back(&world.rank(group_->world_rank(i)));
    members_ = own_members_.data();
  }
  if (ProcessMap::spans(world.layout(), *group_))
    processes_ = std::make_unique<ProcessMap>(world.layout(), *group_, *world.transport());
  slots_ = std::make_unique<CollectiveSlots>(world, *group_, context, processes_.get());
}

CommShared::~CommShared() = default;

void CommShared::release() {
  const std::int32_t held = holder_count_.fetch_sub(1, std::memory_order_acq_rel);
  SORREL_ASSERT(held > 0, "released more often than retained");
  if (held == 1) delete this;
}

Comm* make_comm(CommShared& shared, std::int32_t rank, const Comm& parent) {
  SORREL_ASSERT(is_on_worker_of(shared.member(rank)));
  auto* comm = new Comm;
  comm->rank = rank;
  comm->shared = &shared;
  comm->errhandler = parent.errhandler;
  retain(*comm->errhandler);
  shared.retain();
  return comm;
}

void end(Comm& comm) {
  SORREL_ASSERT(comm.header.kind == ObjectKind::comm && comm.reference_count == 0);
  comm.header.kind = ObjectKind::freed;
  comm.shared->slots().leave(comm);
  release(*comm.errhandler);
  comm.shared->release();
  delete &comm;
}

}  // namespace sorrel::mpi
