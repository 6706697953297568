#include "mpi/collectives/slots.hpp"

#include <bit>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "base/copy_bytes.hpp"
#include "core/perturbation.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/collectives/small_reduction.hpp"
#include "mpi/collectives/vector_fold.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/safepoint/safepoint.hpp"

namespace sorrel::mpi {

namespace {

/// A staging buffer has at least this size, so that it seldom grows.
constexpr std::size_t staging_bytes_min = 4096;

/// Calls of the user in which a rank uses nothing of its worker but the barrier, so that it may
/// wake on another one. Those that create objects, and those of windows and files, hold more.
bool allows_safepoint(const CollectiveCall& call) {
  return call.form() == CollectiveForm::blocking && call.kind() >= CollectiveKind::barrier &&
         call.kind() <= CollectiveKind::exscan;
}

/// Words: the address of the child, the number of the barrier, the rank of the first call. Payload:
/// that call, and the operand.
void run_report(core::Worker& here, const core::Record& record, const std::byte* payload) {
  BarrierNode* child = nullptr;
  std::memcpy(&child, record.words.data(), sizeof child);
  MemberCall first_call{.call = {}, .rank = static_cast<std::int32_t>(record.words[3])};
  std::memcpy(&first_call.call, payload, sizeof first_call.call);
  SORREL_ASSERT(child->parent->worker == &here);
  const std::span data(payload, record.payload_bytes);
  child->slots->take_report(*child, first_call, record.words[2],
                            data.subspan(sizeof first_call.call), nullptr);
}

/// Words: the address of the node. Payload: the result of a small reduction.
void run_release(core::Worker&, const core::Record& record, const std::byte* payload) {
  BarrierNode* released = nullptr;
  std::memcpy(&released, record.words.data(), sizeof released);
  copy_bytes(released->result.data(), payload, record.payload_bytes);
  released->slots->release(*released);
}

/// Words: the address of the receiver's node, the number of the barrier, the rank of the first
/// call. Payload: that call, and the operands.
void run_contribution(core::Worker&, const core::Record& record, const std::byte* payload) {
  BarrierNode* barrier_node = nullptr;
  std::memcpy(&barrier_node, record.words.data(), sizeof barrier_node);
  MemberCall first_call{.call = {}, .rank = static_cast<std::int32_t>(record.words[3])};
  std::memcpy(&first_call.call, payload, sizeof first_call.call);
  const std::span data(payload, record.payload_bytes);
  barrier_node->slots->take_contribution(*barrier_node, first_call, record.words[2],
                                         data.subspan(sizeof first_call.call), nullptr);
}

/// A contribution that does not fit the mailbox, or one with an outcome.
struct PostedContribution : core::RemoteCall {
  BarrierNode* to = nullptr;
  MemberCall first_call;
  std::uint32_t barrier_number = 0;
  std::vector<std::byte> values;
  std::optional<BarrierOutcome> outcome;

  static void take(core::Worker&, core::RemoteCall& call) {
    const std::unique_ptr<PostedContribution> taken(&static_cast<PostedContribution&>(call));
    taken->to->slots->take_contribution(*taken->to, taken->first_call, taken->barrier_number,
                                        taken->values, taken->outcome ? &*taken->outcome : nullptr);
  }
};

core::Record record_about(core::RecordKind kind, const BarrierNode& barrier_node) {
  core::Record record{.kind = kind};
  const BarrierNode* pointer = &barrier_node;
  std::memcpy(record.words.data(), &pointer, sizeof pointer);
  return record;
}

/// What a node reports of a small reduction.
std::span<const std::byte> operand_of(const BarrierNode& barrier_node) {
  const bool has_operand =
      barrier_node.operand_rank >= 0 && barrier_node.reduction.kernel != nullptr;
  return {barrier_node.operand.data(), has_operand ? barrier_node.reduction.bytes : 0};
}

}  // namespace

void set_barrier_runners(core::Scheduler& scheduler) {
  scheduler.set_runner(barrier_report_kind, run_report);
  scheduler.set_runner(barrier_release_kind, run_release);
  scheduler.set_runner(barrier_contribution_kind, run_contribution);
}

CollectiveSlots::CollectiveSlots(World& world,
                                 const Group& group,
                                 std::uint32_t context,
                                 const ProcessMap* processes,
                                 const CollectiveLimits& limits)
    : members_{.world = world, .group = group, .processes = processes},
      member_count_(group.size()),
      limits_(limits) {
  if (member_count_ <= 1) return;
  const auto count = static_cast<std::size_t>(member_count_);
  published_ = std::make_unique<const void*[]>(count);
  Safepoint* const safepoint = world.safepoint();
  is_release_special_ =
      processes != nullptr || (safepoint != nullptr && member_count_ == world.size());
  nodes_ = BarrierNodes(*this, members_);
  if (processes != nullptr)
    over_processes_ = std::make_unique<ProcessSlots>(*this, members_, nodes_, context);
  if (world.moves_ranks()) {
    views_.resize(count);
    safepoint->add(*this);
  }
}

CollectiveSlots::~CollectiveSlots() {
  SORREL_AUDIT_INVARIANTS(*this);
  if (!views_.empty()) members_.world.safepoint()->remove(*this);
}

void CollectiveSlots::check_invariants() const {
  for (const auto& barrier_node : nodes_.all()) {
    SORREL_CHECK(barrier_node->waiting.empty());
    SORREL_CHECK(!barrier_node->from_peer.has_arrived && !barrier_node->is_held,
                 "a pair is in a barrier");
    SORREL_CHECK(barrier_node->arrived_member_count == 0 && barrier_node->arrived_child_count == 0,
                 "%u of %u members and %u of %zu children are in a barrier",
                 barrier_node->arrived_member_count, barrier_node->member_count,
                 barrier_node->arrived_child_count, barrier_node->children.size());
  }
}

BarrierNode& CollectiveSlots::barrier_node_of(RankState& self, Comm& comm) {
  if (comm.barrier_node == nullptr) [[unlikely]]
    add_view(comm);
  SORREL_ASSERT(comm.barrier_node->worker == self.worker && comm.barrier_node->slots == this);
  return *comm.barrier_node;
}

/// At the first barrier of a view.
[[gnu::noinline, gnu::cold]] void CollectiveSlots::add_view(Comm& comm) {
  comm.barrier_node = &nodes_.of(*members_.world.rank(members_.group.world_rank(comm.rank)).worker);
  if (views_.empty()) return;
  Comm*& view = views_[static_cast<std::size_t>(comm.rank)];
  // Relaxed: read while all workers are stopped.
  if (view != nullptr && view != &comm) has_unknown_views_.store(true, std::memory_order_relaxed);
  view = &comm;
}

bool CollectiveSlots::do_all_wait() const {
  std::uint32_t count = 0;
  for (const auto& barrier_node : nodes_.all())
    barrier_node->waiting.for_each([&](const core::Fiber&) { ++count; });
  return count == nodes_.member_count();
}

void CollectiveSlots::regroup() {
  SORREL_ASSERT(!views_.empty());
  if (nodes_.root().is_held) complete_held_pair();
  former_nodes_ = std::exchange(nodes_, BarrierNodes(*this, members_));
  // As if the release of the barrier in progress had come down to every node.
  const BarrierNode& root = former_nodes_.root();
  for (const auto& former : former_nodes_.all()) {
    SORREL_ASSERT(former->arrived_member_count == 0 && former->arrived_child_count == 0);
    former->result = root.result;
    former->outcomes = root.outcomes;
  }
  for (const auto& barrier_node : nodes_.all())
    barrier_node->outcomes = root.outcomes;
  for (std::int32_t i = 0; i < member_count_; ++i) {
    Comm* view = views_[static_cast<std::size_t>(i)];
    if (view != nullptr)
      view->barrier_node = &nodes_.of(*members_.world.rank(members_.group.world_rank(i)).worker);
  }
}

void CollectiveSlots::release_at_safepoint() {
  for (const auto& former : former_nodes_.all()) {
    while (core::Fiber* fiber = former->waiting.pop())
      fiber->worker->make_ready(*fiber);
  }
}

void CollectiveSlots::release_after_safepoint() {
  BarrierNode& root = nodes_.root();
  if (root.is_held) return release_held_pair(root);
  release(root);
}

void CollectiveSlots::end_process_barrier() {
  if (over_processes_ != nullptr) over_processes_->end();
}

void CollectiveSlots::publish(const Comm& comm, const void* pointer) {
  SORREL_ASSERT(comm.rank >= 0 && comm.rank < member_count_ && &comm.shared->slots() == this);
  if (member_count_ > 1) published_[static_cast<std::size_t>(comm.rank)] = pointer;
}

/// The calls in a barrier must agree: each is compared with the first, and each node with its
/// parent.
[[gnu::always_inline]] inline void CollectiveSlots::compare_call(BarrierNode& barrier_node,
                                                                 const CollectiveCall& call,
                                                                 std::int32_t rank,
                                                                 std::uint32_t barrier_number) {
  const bool is_first = (barrier_node.arrived_member_count | barrier_node.arrived_child_count) == 0;
  SORREL_ASSERT(is_first || barrier_node.first_call.call != call ||
                    barrier_node.barrier_number == barrier_number,
                "members of one collective are in barriers %u and %u", barrier_node.barrier_number,
                barrier_number);
  if (is_first) {
    barrier_node.first_call = {.call = call, .rank = rank};
    barrier_node.barrier_number = barrier_number;
  } else if (barrier_node.first_call.call != call && !barrier_node.has_outcome()) [[unlikely]] {
    barrier_node.outcome() = {
        .barrier_number = barrier_number,
        .mismatch = {.first = barrier_node.first_call, .other = {.call = call, .rank = rank}}};
  }
}

/// Inlined into its callers: each function between a call and the switch costs a mispredicted
/// return.
[[gnu::always_inline]] inline int CollectiveSlots::arrive(RankState& self,
                                                          Comm& comm,
                                                          BarrierNode& barrier_node) {
  // On the stack: the communicator is out of the caches when a member goes on.
  const std::uint32_t barrier_number = comm.barrier_count;
  core::Fiber& caller = self.worker->running();
  SORREL_ASSERT(is_on_worker_of(self) && caller.user == &self);
  SORREL_ASSERT(barrier_node.arrived_member_count < barrier_node.member_count,
                "a member arrives before the release of the last barrier");
  core::perturb(self.worker->id(), core::PerturbedPoint::arrive);
  compare_call(barrier_node, comm.call, comm.rank, barrier_number);
  const bool is_last = ++barrier_node.arrived_member_count == barrier_node.member_count;
  if (is_last && barrier_node.vectors != nullptr)
    fold_members(barrier_node, members_, published_.get());
  if (!is_last || !complete_if_all_arrived(barrier_node)) {
    barrier_node.waiting.push(caller);
    if (&caller == &self.fiber) [[likely]] {
      self.wait.comm = &comm;
      self.wait.begin(WaitRecord::Kind::collective);
      self.worker->suspend();
      self.wait.end();
    } else {
      self.worker->suspend();
    }
  }
  // The node may be in the next barrier; the one after that cannot begin without this member.
  const BarrierOutcome& outcome = barrier_node.outcomes[barrier_number % 2];
  if (outcome.barrier_number != barrier_number) [[likely]]
    return MPI_SUCCESS;
  if (outcome.kind == BarrierOutcome::Kind::safepoint) {
    self.is_safepoint_due = true;
    return MPI_SUCCESS;
  }
  return outcome.mismatch.explain(self.detail());
}

int CollectiveSlots::barrier(RankState& self, Comm& comm) {
  ++comm.barrier_count;
  if (member_count_ <= 1) return MPI_SUCCESS;
  BarrierNode& barrier_node = barrier_node_of(self, comm);
  barrier_node.reduction.kernel = nullptr;
  return arrive(self, comm, barrier_node);
}

int CollectiveSlots::local_barrier(RankState& self, Comm& comm) {
  ++comm.barrier_count;
  if (member_count_ <= 1) return MPI_SUCCESS;
  BarrierNode& barrier_node = barrier_node_of(self, comm);
  barrier_node.reduction.kernel = nullptr;
  barrier_node.is_local_barrier = true;
  return arrive(self, comm, barrier_node);
}

int CollectiveSlots::barrier_and_reduce(RankState& self,
                                        Comm& comm,
                                        const SmallReduction& reduction,
                                        const void* operand,
                                        void* result) {
  SORREL_ASSERT(reduction.bytes <= small_reduction_bytes_max);
  ++comm.barrier_count;
  if (member_count_ <= 1) {
    if (reduction.bytes != 0) std::memmove(result, operand, reduction.bytes);
    return MPI_SUCCESS;
  }
  BarrierNode& barrier_node = barrier_node_of(self, comm);
  barrier_node.reduction = reduction;
  std::byte* const place = barrier_node.operand_rank >= 0
                               ? barrier_node.operand.data()
                               : value_of(barrier_node, reduction.bytes, comm.rank);
  copy_bytes(place, operand, reduction.bytes);
  if (const int error = arrive(self, comm, barrier_node); error != MPI_SUCCESS) return error;
  copy_bytes(result, barrier_node.result.data(), reduction.bytes);
  return MPI_SUCCESS;
}

int CollectiveSlots::barrier_and_fold(RankState& self,
                                      Comm& comm,
                                      const ReductionArguments& arguments,
                                      const void* operand,
                                      const void** total) {
  SORREL_ASSERT(member_count_ > 1 && over_processes_ == nullptr);
  ++comm.barrier_count;
  publish(comm, operand);
  BarrierNode& barrier_node = barrier_node_of(self, comm);
  barrier_node.reduction.kernel = nullptr;
  barrier_node.vectors = &arguments;
  barrier_node.is_total_needed |= total != nullptr;
  // It stays if the nodes are made anew while the members wait.
  BarrierNode& has_total = barrier_node.peer == nullptr ? nodes_.root() : barrier_node;
  const std::uint32_t barrier_number = comm.barrier_count;
  if (const int error = arrive(self, comm, barrier_node); error != MPI_SUCCESS) return error;
  if (total != nullptr) *total = has_total.fold_of(barrier_number).last().totals().front().elements;
  return MPI_SUCCESS;
}

void CollectiveSlots::remember(const Comm& comm,
                               const ReductionArguments& arguments,
                               const SmallReduction& reduction) {
  const bool is_users =
      comm.call.kind() == CollectiveKind::allreduce && comm.call.form() == CollectiveForm::blocking;
  if (comm.barrier_node == nullptr || !is_users || !arguments.type.is_predefined()) return;
  comm.barrier_node->known = {.datatype = handle_of(arguments.type),
                              .op = handle_of(arguments.op),
                              .count = static_cast<MPI_Count>(arguments.count),
                              .reduction = reduction,
                              .call = comm.call};
}

/// Returns true if the whole communicator has arrived and this node has been released at once.
bool CollectiveSlots::complete_if_all_arrived(BarrierNode& barrier_node) {
  if (barrier_node.arrived_member_count != barrier_node.member_count ||
      barrier_node.arrived_child_count != barrier_node.children.size())
    return false;
  if (barrier_node.reduction.kernel != nullptr) {
    for (const std::int32_t block : barrier_node.own_blocks)
      fold_block(barrier_node, block, member_count_);
  }
  if (barrier_node.peer != nullptr) {
    const bool may_hold = is_release_special_ && members_.world.safepoint()->may_begin();
    if (!may_hold || !hold(barrier_node)) [[likely]]
      contribute(barrier_node);
    return barrier_node.from_peer.has_arrived && complete_pair(barrier_node);
  }
  barrier_node.arrived_member_count = 0;
  barrier_node.arrived_child_count = 0;
  if (barrier_node.vectors != nullptr) fold_others(barrier_node, members_, published_.get());
  if (barrier_node.parent == nullptr) {
    if (is_release_special_) [[unlikely]]
      return release_specially(barrier_node);
    fold_if_reduction(barrier_node);
    release(barrier_node);
    return true;
  }
  report(barrier_node);
  return false;
}

/// Reports to the parent's worker.
void CollectiveSlots::report(BarrierNode& barrier_node) {
  const std::span<const std::byte> operand = operand_of(barrier_node);
  if (over_processes_ == nullptr && !barrier_node.has_outcome()) [[likely]] {
    const MemberCall& first_call = barrier_node.first_call;
    std::array<std::byte, sizeof first_call.call + small_reduction_bytes_max> payload;
    std::memcpy(payload.data(), &first_call.call, sizeof first_call.call);
    if (!operand.empty()) {
      // All of it: a copy of a constant number of bytes.
      std::memcpy(payload.data() + sizeof first_call.call, operand.data(),
                  small_reduction_bytes_max);
    }
    core::Record record = record_about(barrier_report_kind, barrier_node);
    record.words[2] = barrier_node.barrier_number;
    record.words[3] = static_cast<std::uint32_t>(first_call.rank);
    record.payload_bytes = static_cast<std::uint32_t>(sizeof first_call.call + operand.size());
    core::perturb(barrier_node.worker->id(), core::PerturbedPoint::report);
    if (!core::perturbs_choice(barrier_node.worker->id()) &&
        barrier_node.worker->try_post(*barrier_node.parent->worker, record, payload.data()))
      return;
  }
  barrier_node.up.run = [](core::Worker& here, core::RemoteCall& call) {
    BarrierNode& child = *static_cast<BarrierNode::Report&>(call).barrier_node;
    BarrierNode& parent = *child.parent;
    SORREL_ASSERT(parent.worker == &here);
    // The root of a process that all members have left.
    if (parent.member_count == 0) [[unlikely]] {
      parent.reduction = child.reduction;
      parent.is_local_barrier = std::exchange(child.is_local_barrier, false);
    }
    child.slots->take_report(child, child.first_call, child.barrier_number, operand_of(child),
                             child.has_outcome() ? &child.outcome() : nullptr);
  };
  barrier_node.worker->post(*barrier_node.parent->worker, barrier_node.up);
}

void CollectiveSlots::take_report(const BarrierNode& child,
                                  const MemberCall& first_call,
                                  std::uint32_t barrier_number,
                                  std::span<const std::byte> operand,
                                  const BarrierOutcome* outcome) {
  BarrierNode& parent = *child.parent;
  SORREL_ASSERT(parent.arrived_child_count < parent.children.size());
  SORREL_ASSERT(operand.empty() || child.operand_rank >= 0);
  compare_call(parent, first_call.call, first_call.rank, barrier_number);
  if (outcome != nullptr && !parent.has_outcome()) parent.outcome() = *outcome;
  if (!operand.empty())
    copy_bytes(value_of(parent, operand.size(), child.operand_rank), operand.data(),
               operand.size());
  ++parent.arrived_child_count;
  // No member executes this: the waiting members are made ready by the release.
  complete_if_all_arrived(parent);
}

/// The members of this worker have arrived: sends the peer all that it needs to go on.
[[gnu::noinline]] void CollectiveSlots::contribute(BarrierNode& barrier_node) {
  core::perturb(barrier_node.worker->id(), core::PerturbedPoint::report);
  BarrierNode& peer = *barrier_node.peer;
  const MemberCall& first_call = barrier_node.first_call;
  std::array<std::byte, core::WorkerMailbox::payload_bytes_max> payload;
  std::memcpy(payload.data(), &first_call.call, sizeof first_call.call);
  std::size_t bytes = sizeof first_call.call;
  if (const SmallReduction& reduction = barrier_node.reduction; reduction.kernel != nullptr) {
    for (const RankRun& run : barrier_node.ranks_for_peer) {
      const std::size_t run_bytes = static_cast<std::size_t>(run.count) * reduction.bytes;
      copy_bytes(payload.data() + bytes, value_of(barrier_node, reduction.bytes, run.first),
                 run_bytes);
      bytes += run_bytes;
    }
  }
  if (!barrier_node.has_outcome()) [[likely]] {
    core::Record record = record_about(barrier_contribution_kind, peer);
    record.words[2] = barrier_node.barrier_number;
    record.words[3] = static_cast<std::uint32_t>(first_call.rank);
    record.payload_bytes = static_cast<std::uint32_t>(bytes);
    if (!core::perturbs_choice(barrier_node.worker->id()) &&
        barrier_node.worker->try_post(*peer.worker, record, payload.data()))
      return;
  }
  auto* posted = new PostedContribution;
  posted->run = PostedContribution::take;
  posted->to = &peer;
  posted->first_call = first_call;
  posted->barrier_number = barrier_node.barrier_number;
  posted->values.assign(payload.data() + sizeof first_call.call, payload.data() + bytes);
  if (barrier_node.has_outcome()) posted->outcome = barrier_node.outcome();
  barrier_node.worker->post(*peer.worker, *posted);
}

void CollectiveSlots::take_contribution(BarrierNode& barrier_node,
                                        const MemberCall& first_call,
                                        std::uint32_t barrier_number,
                                        std::span<const std::byte> values,
                                        const BarrierOutcome* outcome) {
  SORREL_ASSERT(barrier_node.worker == core::Worker::current());
  PeerContribution& from_peer = barrier_node.from_peer;
  SORREL_ASSERT(!from_peer.has_arrived, "the peer is two barriers ahead");
  from_peer.has_arrived = true;
  from_peer.barrier_number = barrier_number;
  from_peer.first_call = first_call;
  if (outcome != nullptr) from_peer.outcome = *outcome;
  if (!values.empty()) {
    const std::size_t bytes = values.size() / barrier_node.peer_value_count;
    const std::byte* value = values.data();
    for (const RankRun& run : barrier_node.ranks_of_peer) {
      const std::size_t run_bytes = static_cast<std::size_t>(run.count) * bytes;
      copy_bytes(value_of(barrier_node, bytes, run.first), value, run_bytes);
      value += run_bytes;
    }
  }
  if (barrier_node.arrived_member_count == barrier_node.member_count)
    (void)complete_pair(barrier_node);
}

/// The members of this worker have arrived: whether the peer must wait until it is known if a
/// safepoint begins.
[[gnu::noinline]] bool CollectiveSlots::hold(BarrierNode& barrier_node) {
  if (&barrier_node != &nodes_.root() || !may_be_safepoint(barrier_node)) return false;
  Safepoint& safepoint = *members_.world.safepoint();
  barrier_node.wishes = safepoint.wishes();
  barrier_node.is_held = barrier_node.wishes != 0 || safepoint.is_process_due() ||
                         core::perturbs_choice(barrier_node.worker->id());
  return barrier_node.is_held;
}

/// All members have arrived, and the peer's. Returns true if the node has been released at once.
bool CollectiveSlots::complete_pair(BarrierNode& barrier_node) {
  compare_with_peer(barrier_node);
  if (!barrier_node.is_held) [[likely]] {
    release_of_pair(barrier_node);
    return true;
  }
  if (!decide(barrier_node, members_.world.safepoint()->wanted_of(barrier_node.wishes)))
    return false;
  release_held_pair(barrier_node);
  return true;
}

void CollectiveSlots::release_held_pair(BarrierNode& root) {
  root.is_held = false;
  contribute(root);
  release_of_pair(root);
}

/// Both nodes find the same result, each for its members.
void CollectiveSlots::release_of_pair(BarrierNode& barrier_node) {
  fold_of_pair(barrier_node);
  release(barrier_node);
}

void CollectiveSlots::fold_of_pair(BarrierNode& barrier_node) {
  barrier_node.from_peer.has_arrived = false;
  barrier_node.arrived_member_count = 0;
  if (barrier_node.vectors != nullptr) fold_others(barrier_node, members_, published_.get());
  fold_if_reduction(barrier_node);
}

/// While all workers are stopped: as if the contribution had been sent. The result of a small
/// reduction is that of the root.
void CollectiveSlots::complete_held_pair() {
  BarrierNode& root = nodes_.root();
  root.is_held = false;
  root.peer->reduction.kernel = nullptr;
  fold_of_pair(root);
  fold_of_pair(*root.peer);
}

/// Both nodes find the same mismatch: the first node's own, else the second one's, else that their
/// calls differ.
void CollectiveSlots::compare_with_peer(BarrierNode& barrier_node) {
  const PeerContribution& from_peer = barrier_node.from_peer;
  const std::uint32_t number = barrier_node.barrier_number;
  SORREL_ASSERT(from_peer.barrier_number == number, "a pair is in barriers %u and %u", number,
                from_peer.barrier_number);
  const bool has_own = barrier_node.has_outcome();
  const bool has_peers = from_peer.outcome.barrier_number == number;
  const bool is_same = barrier_node.first_call.call == from_peer.first_call.call;
  if (is_same && !has_own && !has_peers) [[likely]]
    return;
  const bool is_first = &barrier_node == &nodes_.root();
  if (has_own && (is_first || !has_peers)) return;
  if (has_peers) {
    barrier_node.outcome() = from_peer.outcome;
    return;
  }
  barrier_node.outcome() = {
      .barrier_number = number,
      .mismatch = {.first = is_first ? barrier_node.first_call : from_peer.first_call,
                   .other = is_first ? from_peer.first_call : barrier_node.first_call}};
}

/// Returns true if the root has been released at once.
bool CollectiveSlots::release_specially(BarrierNode& root) {
  if (over_processes_ != nullptr) return over_processes_->complete(root);
  fold_if_reduction(root);
  return release_root(root, wanted_safepoints(root));
}

/// Every rank of the job arrives in the barrier.
bool CollectiveSlots::may_be_safepoint(BarrierNode& root) const {
  return members_.world.safepoint() != nullptr && member_count_ == members_.world.size() &&
         allows_safepoint(root.first_call.call) && !root.has_outcome();
}

std::uint32_t CollectiveSlots::wanted_safepoints(BarrierNode& root) const {
  return may_be_safepoint(root) ? members_.world.safepoint()->wanted() : 0;
}

bool CollectiveSlots::release_root(BarrierNode& root, std::uint32_t wanted) {
  if (!decide(root, wanted)) return false;
  release(root);
  return true;
}

/// All members have arrived. Returns false if they wait for a safepoint in this barrier.
bool CollectiveSlots::decide(BarrierNode& root, std::uint32_t wanted) {
  const SafepointDecision decision = may_be_safepoint(root)
                                         ? members_.world.safepoint()->decide(*this, wanted)
                                         : SafepointDecision::none;
  if (decision == SafepointDecision::in_barrier) return false;
  if (decision == SafepointDecision::at_end_of_call)
    root.outcome() = {.barrier_number = root.barrier_number,
                      .mismatch = {},
                      .kind = BarrierOutcome::Kind::safepoint};
  return true;
}

void CollectiveSlots::release(BarrierNode& barrier_node) {
  core::Worker& worker = *barrier_node.worker;
  SORREL_ASSERT(&worker == core::Worker::current());
  SORREL_ASSERT(barrier_node.arrived_member_count == 0 && barrier_node.arrived_child_count == 0,
                "a member has arrived at the next barrier before the release "
                "of this one");
  const bool has_members = barrier_node.member_count != 0;
  for (BarrierNode* child : barrier_node.children) {
    release_child(barrier_node, *child);
    core::perturb(worker.id(), core::PerturbedPoint::release);
  }
  if (has_members) worker.make_all_ready(barrier_node.waiting);
}

void CollectiveSlots::release_child(BarrierNode& parent, BarrierNode& child) {
  if (!parent.has_outcome()) [[likely]] {
    core::Record record = record_about(barrier_release_kind, child);
    if (parent.reduction.kernel != nullptr) record.payload_bytes = parent.reduction.bytes;
    if (!core::perturbs_choice(parent.worker->id()) &&
        parent.worker->try_post(*child.worker, record, parent.result.data()))
      return;
  }
  child.down.run = [](core::Worker&, core::RemoteCall& call) {
    BarrierNode& released = *static_cast<BarrierNode::Report&>(call).barrier_node;
    released.result = released.parent->result;
    // By the child's number: the parent may be in the next barrier.
    const std::uint32_t parity = released.barrier_number % 2;
    if (released.parent->outcomes[parity].barrier_number == released.barrier_number) [[unlikely]]
      released.outcomes[parity] = released.parent->outcomes[parity];
    released.slots->release(released);
  };
  parent.worker->post(*child.worker, child.down);
}

/// Operands of different sizes cannot be combined.
[[gnu::always_inline]] inline void CollectiveSlots::fold_if_reduction(BarrierNode& root) {
  if (root.reduction.kernel == nullptr || root.has_mismatch()) return;
  for (const std::int32_t block : nodes_.shared_blocks())
    fold_block(root, block, member_count_);
  combine_blocks(root, member_count_);
}

void CollectiveSlots::leave(const Comm& comm) {
  if (!views_.empty() && views_[static_cast<std::size_t>(comm.rank)] == &comm)
    views_[static_cast<std::size_t>(comm.rank)] = nullptr;
  if (over_processes_ != nullptr && comm.barrier_node != nullptr) over_processes_->leave();
}

int CollectiveSlots::staging(RankState& self, Comm& comm, std::size_t bytes, std::byte** buffer) {
  SORREL_ASSERT(over_processes_ == nullptr, "only the members of this process would be in step");
  // Every member sees the same size here: it changes only between two barriers of all members.
  if (staging_bytes_ < bytes) {
    bytes = std::bit_ceil(std::max(bytes, staging_bytes_min));
    if (const int error = barrier(self, comm); error != MPI_SUCCESS) return error;
    if (comm.rank == 0) {
      for (auto& staged : staging_)
        staged = std::make_unique_for_overwrite<LinePair[]>(line_pairs(bytes));
      staging_bytes_ = bytes;
    }
    barrier(self, comm);
    SORREL_ASSERT(staging_bytes_ >= bytes, "the members disagree on the size");
  }
  *buffer = reinterpret_cast<std::byte*>(staging_[comm.barrier_count % 2].get());
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
