#include "mpi/collectives/slots.hpp"
#include "mpi/comm/collective_shadows.hpp"
#include "mpi/comm/incomplete_comm.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/comm/topology/topology.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/job/spawned_ranks.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

/// The limits that follow from what all members know.
CollectiveLimits limits_of(const World& world, const Group& group, const ProcessMap* processes) {
  CollectiveShape shape;
  if (processes != nullptr) {
    shape.processes = static_cast<std::uint32_t>(processes->count());
    shape.nodes = static_cast<std::uint32_t>(processes->node_count());
  }
  const std::uint32_t workers = shape.processes * world.layout().worker_count();
  shape.ranks_per_worker = (static_cast<std::uint32_t>(group.size()) + workers - 1) / workers;
  return static_cast<const ProcessWorld&>(world).tuning().limits_of(shape);
}

}  // namespace

CommShared::CommShared(World& world,
                       std::uint32_t context,
                       std::shared_ptr<const Group> group,
                       CommKind kind)
    : world_(world),
      context_(context),
      kind_(kind),
      size_(group->size()),
      group_(std::move(group)),
      members_(world.ranks()) {
  if (!group_->is_world()) {
    own_members_.reserve(static_cast<std::size_t>(group_->size()));
    for (std::int32_t i = 0; i < group_->size(); ++i) {
      own_members_.push_back(&retain_member(world, group_->world_rank(i)));
    }
    members_ = own_members_.data();
  }
  make_parts();
  world.add_comm(*this);
}

/// Makes the parts that depend on the processes of the members.
void CommShared::make_parts() {
  if (kind_ == CommKind::inter) return;
  // MPI_COMM_WORLD of the job, in a process that began without ranks.
  if (group_->is_world() && world_.first_own_rank() == world_.last_own_rank()) return;
  if (ProcessMap::spans(world_.layout(), *group_))
    processes_ = std::make_unique<ProcessMap>(world_.layout(), *group_, *world_.transport());
  slots_ = std::make_unique<CollectiveSlots>(world_, *group_, context_, processes_.get(),
                                             limits_of(world_, *group_, processes_.get()));
}

void CommShared::relocate() {
  bool has_member_here = group_->is_world();
  for (std::size_t i = 0; i < own_members_.size(); ++i) {
    const std::int32_t world_rank = group_->world_rank(static_cast<std::int32_t>(i));
    own_members_[i] = &world_.rank(world_rank);
    has_member_here |= world_.is_here(world_rank);
  }
  slots_.reset();
  processes_.reset();
  // Else it is about to end, or is of a remote group.
  if (has_member_here) make_parts();
}

CommShared::~CommShared() {
  world_.remove_comm(*this);
  if (world_.may_spawn()) {
    // After the slots, which know the members' workers.
    slots_.reset();
    for (RankState* member : own_members_)
      release_member(*member);
  }
  CollectiveShadows* shadows = shadows_.load(std::memory_order_acquire);
  if (shadows == nullptr) return;
  for (std::atomic<CommShared*>& shadow : shadows->shadows) {
    if (CommShared* made = shadow.load(std::memory_order_acquire)) made->release();
  }
  delete shadows;
}

CollectiveShadows& CommShared::shadows() {
  CollectiveShadows* present = shadows_.load(std::memory_order_acquire);
  if (present != nullptr) return *present;
  auto made = std::make_unique<CollectiveShadows>(size_);
  if (!shadows_.compare_exchange_strong(present, made.get(), std::memory_order_acq_rel,
                                        std::memory_order_acquire))
    return *present;
  return *made.release();
}

CommShared& CommShared::shadow(std::uint32_t index) {
  std::atomic<CommShared*>& shadow = shadows().shadows[index];
  CommShared* present = shadow.load(std::memory_order_acquire);
  if (present != nullptr) return *present;
  SORREL_ASSERT(context_ >> context_bits == 0, "a shadow has no shadows");
  auto* made = new CommShared(world_, context_ | (index + 1) << context_bits, group_, kind_);
  made->retain();
  if (shadow.compare_exchange_strong(present, made, std::memory_order_acq_rel,
                                     std::memory_order_acquire))
    return *made;
  made->release();
  return *present;
}

void CommShared::release() {
  const std::int32_t held = holder_count_.fetch_sub(1, std::memory_order_acq_rel);
  SORREL_ASSERT(held > 0, "released more often than retained");
  if (held == 1) delete this;
}

void NeighborhoodDeleter::operator()(const Neighborhood* neighborhood) const {
  delete neighborhood;
}

namespace {

/// Takes over the caller's reference to `shared`.
void attach(Comm& comm, CommShared& shared) {
  SORREL_ASSERT(comm.shared == nullptr);
  comm.header.kind = ObjectKind::comm;
  comm.shared = &shared;
}

Comm* make_view(CommShared& shared, std::int32_t rank, const Comm& parent) {
  Comm& comm = make_incomplete_comm(parent);
  comm.rank = rank;
  shared.retain();
  attach(comm, shared);
  return &comm;
}

}  // namespace

Comm& make_incomplete_comm(const Comm& parent) {
  auto* comm = new Comm;
  comm->header.kind = incomplete_comm_kind;
  comm->rank = parent.rank;
  comm->errhandler = parent.errhandler;
  retain(*comm->errhandler);
  comm->session_sends = parent.session_sends;
  return *comm;
}

void complete_comm(Comm& comm, CommShared& shared, std::unique_ptr<const InterPart> inter) {
  comm.inter = std::move(inter);
  attach(comm, shared);
}

void abandon(Comm& incomplete) {
  SORREL_ASSERT(incomplete.header.kind == incomplete_comm_kind);
  incomplete.header.kind = ObjectKind::freed;
  release(*incomplete.errhandler);
  delete &incomplete;
}

Comm* make_comm(CommShared& shared, std::int32_t rank, const Comm& parent) {
  SORREL_ASSERT(is_on_worker_of(shared.member(rank)));
  return make_view(shared, rank, parent);
}

Comm* make_inter_comm(CommShared& shared, const InterPart& part, const Comm& parent) {
  Comm* comm = make_view(shared, part.local->rank, parent);
  comm->inter = std::make_unique<const InterPart>(part);
  return comm;
}

Comm* make_shadow_view(Comm& comm, std::uint32_t index) {
  CommShared& shadow = comm.shared->shadow(index);
  if (comm.inter == nullptr) return make_comm(shadow, comm.rank, comm);
  Comm* local = make_shadow_view(*comm.inter->local, index);
  return make_inter_comm(shadow, {.local = local, .is_first = comm.inter->is_first}, comm);
}

void end(Comm& comm) {
  SORREL_ASSERT(comm.header.kind == ObjectKind::comm && comm.reference_count == 0);
  comm.header.kind = ObjectKind::freed;
  if (comm.inter == nullptr) {
    comm.shared->slots().leave(comm);
  } else {
    release(*comm.inter->local);
  }
  release(*comm.errhandler);
  comm.shared->release();
  delete &comm;
}

}  // namespace sorrel::mpi
