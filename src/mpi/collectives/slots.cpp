#include "mpi/collectives/slots.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "base/copy_bytes.hpp"
#include "core/perturbation.hpp"
#include "mpi/base/error_string.hpp"
#include "mpi/collectives/collectives.hpp"
#include "mpi/comm/balance_point.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

namespace {

// Ranks folded one after the other before their results are: small enough to spread over workers,
// large enough that the second level is short. It decides the order of a reduction, so it is not
// configurable.
constexpr std::int32_t block_rank_count = 64;

// Bound on the children of a node: a worker's share of a barrier stays below ten cache-line
// transfers.
constexpr std::size_t tree_fan_out = 8;

// A contribution goes in one record.
constexpr std::size_t peer_values_max =
    (core::WorkerMailbox::payload_bytes_max - sizeof(CollectiveCall)) / small_reduction_bytes_max;

/// Calls of the user in which a rank uses nothing of its worker but the barrier, so that it may
/// wake on another one. Those that create objects, and those of windows and files, hold more.
bool may_be_held(const CollectiveCall& call) {
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

/// A contribution that does not fit the mailbox, or one with a mismatch.
struct PostedContribution : core::RemoteCall {
  BarrierNode* to = nullptr;
  MemberCall first_call;
  std::uint32_t barrier_number = 0;
  std::vector<std::byte> values;
  std::optional<CollectiveMismatch> mismatch;

  static void take(core::Worker&, core::RemoteCall& call) {
    const std::unique_ptr<PostedContribution> taken(&static_cast<PostedContribution&>(call));
    taken->to->slots->take_contribution(*taken->to, taken->first_call, taken->barrier_number,
                                        taken->values,
                                        taken->mismatch ? &*taken->mismatch : nullptr);
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

std::vector<RankRun> runs_of(const std::vector<std::int32_t>& ranks) {
  std::vector<RankRun> runs;
  for (const std::int32_t rank : ranks) {
    if (runs.empty() || rank != runs.back().first + runs.back().count)
      runs.push_back({.first = rank, .count = 0});
    ++runs.back().count;
  }
  return runs;
}

std::int32_t block_count(std::int32_t member_count) {
  return (member_count + block_rank_count - 1) / block_rank_count;
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
    : world_(world),
      group_(group),
      member_count_(group.size()),
      processes_(processes),
      context_(context),
      limits_(limits) {
  if (member_count_ <= 1) return;
  const auto count = static_cast<std::size_t>(member_count_);
  published_ = std::make_unique<const void*[]>(count);
  BalancePoint* const point = world.balance_point();
  is_release_special_ =
      processes != nullptr || may_pause() || (point != nullptr && member_count_ == world.size());
  make_barrier_nodes();
  if (processes != nullptr)
    contributions_ = std::make_unique<ContributionMap>(*processes, block_rank_count);
  if (point != nullptr) {
    views_.resize(count);
    point->add(*this);
  }
}

CollectiveSlots::~CollectiveSlots() {
  SORREL_AUDIT_INVARIANTS(*this);
  if (!views_.empty()) world_.balance_point()->remove(*this);
}

/// Whether every rank of the job arrives in a barrier, and all may pause after it.
bool CollectiveSlots::may_pause() const {
  return world_.pauses_at_collectives() && member_count_ == world_.size();
}

void CollectiveSlots::check_invariants() const {
  for (const auto& barrier_node : barrier_nodes_) {
    SORREL_CHECK(barrier_node->waiting.empty());
    SORREL_CHECK(!barrier_node->from_peer.has_arrived, "the peer is in a barrier");
    SORREL_CHECK(barrier_node->arrived_member_count == 0 && barrier_node->arrived_child_count == 0,
                 "%u of %u members and %u of %zu children are in a barrier",
                 barrier_node->arrived_member_count, barrier_node->member_count,
                 barrier_node->arrived_child_count, barrier_node->children.size());
  }
}

/// Where a member is now.
Endpoint CollectiveSlots::endpoint_of(std::int32_t rank) const {
  const std::int32_t world_rank = group_.world_rank(rank);
  // Before the ranks of this process have been made, all are where the layout puts them.
  const core::Worker* worker = world_.rank(world_rank).worker;
  return worker != nullptr ? world_.endpoint_of(*worker) : world_.layout().endpoint_of(world_rank);
}

void CollectiveSlots::make_barrier_nodes() {
  std::vector<std::uint32_t> members_of_worker(world_.layout().worker_count());
  std::vector<std::int32_t> last_member_of_worker(members_of_worker.size());
  std::uint32_t run_count = 0;
  Endpoint last{};
  for (std::int32_t i = 0; i < member_count_; ++i) {
    const Endpoint endpoint = endpoint_of(i);
    if (i == 0 || endpoint != last) ++run_count;
    last = endpoint;
    if (endpoint.process != world_.own_process()) continue;
    ++members_of_worker[endpoint.worker];
    last_member_of_worker[endpoint.worker] = i;
  }
  own_member_count_ =
      std::accumulate(members_of_worker.begin(), members_of_worker.end(), std::uint32_t{0});
  const std::uint32_t worker_count = world_.layout().worker_count();
  // Other processes know the worker of the root, also if no member is there any more.
  const std::uint32_t root =
      processes_ == nullptr ? 0 : processes_->barrier_endpoint(processes_->own_index()).worker;
  for (std::uint32_t k = 0; k < worker_count; ++k) {
    const std::uint32_t i = (root + k) % worker_count;
    const bool is_root = processes_ != nullptr && k == 0;
    if (members_of_worker[i] == 0 && !is_root) continue;
    auto barrier_node = std::make_unique<BarrierNode>();
    barrier_node->worker = &world_.worker(i);
    barrier_node->slots = this;
    barrier_node->member_count = members_of_worker[i];
    if (members_of_worker[i] == 1) barrier_node->operand_rank = last_member_of_worker[i];
    barrier_node->up.barrier_node = barrier_node->down.barrier_node = barrier_node.get();
    if (!barrier_nodes_.empty()) {
      barrier_node->parent = barrier_nodes_[(barrier_nodes_.size() - 1) / tree_fan_out].get();
      barrier_node->parent->children.push_back(barrier_node.get());
    }
    barrier_nodes_.push_back(std::move(barrier_node));
  }
  has_few_runs_ = processes_ == nullptr && run_count <= 2 * barrier_nodes_.size();
  assign_blocks();
  if (barrier_nodes_.size() == 2 && !is_release_special_) make_pair();
  assign_values();
}

void CollectiveSlots::assign_blocks() {
  for (std::int32_t block = 0; block < block_count(member_count_); ++block) {
    const std::int32_t first = block * block_rank_count;
    const std::int32_t last = std::min(first + block_rank_count, member_count_);
    const Endpoint endpoint = endpoint_of(first);
    bool is_in_one_process = true;
    bool is_on_one_worker = true;
    for (std::int32_t i = first + 1; i < last; ++i) {
      const Endpoint other = endpoint_of(i);
      is_in_one_process &= other.process == endpoint.process;
      is_on_one_worker &= other == endpoint;
    }
    if (!is_in_one_process) {
      spread_blocks_.push_back(block);
      continue;
    }
    if (endpoint.process != world_.own_process()) continue;
    if (!is_on_one_worker) {
      shared_blocks_.push_back(block);
      continue;
    }
    const auto owner =
        std::find_if(barrier_nodes_.begin(), barrier_nodes_.end(), [&](const auto& barrier_node) {
          return barrier_node->worker == &world_.worker(endpoint.worker);
        });
    SORREL_ASSERT(owner != barrier_nodes_.end());
    (*owner)->own_blocks.push_back(block);
  }
}

/// Neither of two nodes is the other one's parent, unless their operands are too many for a record.
void CollectiveSlots::make_pair() {
  BarrierNode& first = *barrier_nodes_.front();
  BarrierNode& second = *barrier_nodes_.back();
  const std::vector<std::int32_t> of_first = operand_ranks_of(first);
  const std::vector<std::int32_t> of_second = operand_ranks_of(second);
  if (std::max(of_first.size(), of_second.size()) > peer_values_max) return;
  const auto join = [](BarrierNode& from, BarrierNode& to, const std::vector<std::int32_t>& ranks) {
    to.parent = nullptr;
    to.children.clear();
    to.peer = &from;
    from.ranks_for_peer = to.ranks_of_peer = runs_of(ranks);
    to.peer_value_count = static_cast<std::uint32_t>(ranks.size());
  };
  join(first, second, of_first);
  join(second, first, of_second);
}

/// The ranks under whose numbers it has operands that remain to be combined.
std::vector<std::int32_t> CollectiveSlots::operand_ranks_of(const BarrierNode& barrier_node) const {
  std::vector<std::int32_t> ranks;
  for (const std::int32_t rank : members_of(barrier_node)) {
    const bool is_first_of_block = rank % block_rank_count == 0;
    const bool is_shared =
        std::ranges::find(shared_blocks_, rank / block_rank_count) != shared_blocks_.end();
    if (is_first_of_block || is_shared) ranks.push_back(rank);
  }
  return ranks;
}

void CollectiveSlots::assign_values() {
  const std::size_t bytes = static_cast<std::size_t>(member_count_) * small_reduction_bytes_max;
  const bool is_pair = barrier_nodes_.front()->peer != nullptr;
  values_ = std::make_unique_for_overwrite<std::byte[]>(is_pair ? 2 * bytes : bytes);
  for (const auto& barrier_node : barrier_nodes_) {
    const bool is_second = is_pair && barrier_node == barrier_nodes_.back();
    barrier_node->values = values_.get() + (is_second ? bytes : 0);
    // The operand of a root, and of a member that is a whole block, is stored under its rank at
    // once.
    if (barrier_node->parent == nullptr || !barrier_node->own_blocks.empty())
      barrier_node->operand_rank = -1;
  }
}

BarrierNode* CollectiveSlots::node_of(const core::Worker& worker) const {
  const auto found =
      std::find_if(barrier_nodes_.begin(), barrier_nodes_.end(),
                   [&](const auto& barrier_node) { return barrier_node->worker == &worker; });
  SORREL_ASSERT(found != barrier_nodes_.end(), "a worker without members");
  return found->get();
}

BarrierNode& CollectiveSlots::barrier_node_of(RankState& self, Comm& comm) {
  if (comm.barrier_node == nullptr) [[unlikely]]
    add_view(comm);
  SORREL_ASSERT(comm.barrier_node->worker == self.worker && comm.barrier_node->slots == this);
  return *comm.barrier_node;
}

/// At the first barrier of a view.
[[gnu::noinline, gnu::cold]] void CollectiveSlots::add_view(Comm& comm) {
  comm.barrier_node = node_of(*world_.rank(group_.world_rank(comm.rank)).worker);
  if (views_.empty()) return;
  Comm*& view = views_[static_cast<std::size_t>(comm.rank)];
  // Relaxed: read while all workers are stopped.
  if (view != nullptr && view != &comm) has_unknown_views_.store(true, std::memory_order_relaxed);
  view = &comm;
}

bool CollectiveSlots::do_all_wait() const {
  std::uint32_t count = 0;
  for (const auto& barrier_node : barrier_nodes_)
    barrier_node->waiting.for_each([&](const core::Fiber&) { ++count; });
  return count == own_member_count_;
}

void CollectiveSlots::regroup() {
  SORREL_ASSERT(!views_.empty());
  former_nodes_ = std::move(barrier_nodes_);
  barrier_nodes_.clear();
  shared_blocks_.clear();
  spread_blocks_.clear();
  make_barrier_nodes();
  // As if the release of the barrier in progress had come down to every node.
  const BarrierNode& root = *former_nodes_.front();
  for (const auto& former : former_nodes_) {
    SORREL_ASSERT(former->arrived_member_count == 0 && former->arrived_child_count == 0);
    former->result = root.result;
    former->mismatches = root.mismatches;
  }
  for (const auto& barrier_node : barrier_nodes_)
    barrier_node->mismatches = root.mismatches;
  for (std::int32_t i = 0; i < member_count_; ++i) {
    Comm* view = views_[static_cast<std::size_t>(i)];
    if (view != nullptr) view->barrier_node = node_of(*world_.rank(group_.world_rank(i)).worker);
  }
}

void CollectiveSlots::release_stopped() {
  for (const auto& former : former_nodes_) {
    while (core::Fiber* fiber = former->waiting.pop())
      fiber->worker->make_ready(*fiber);
  }
}

void CollectiveSlots::release_held() {
  release(*barrier_nodes_.front());
}

void CollectiveSlots::end_process_barrier() {
  if (processes_ == nullptr) return;
  // Found by the context: the packets of another process make one that no member has attached yet.
  world_.state_of(*barrier_nodes_.front()->worker).process_barriers->remove(context_);
  process_barrier_ = nullptr;
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
  } else if (barrier_node.first_call.call != call && !barrier_node.has_mismatch()) [[unlikely]] {
    barrier_node.mismatch() = {.barrier_number = barrier_number,
                               .first = barrier_node.first_call,
                               .other = {.call = call, .rank = rank}};
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
  if (is_last && barrier_node.vectors != nullptr) fold_members(barrier_node);
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
  const CollectiveMismatch& mismatch = barrier_node.mismatches[barrier_number % 2];
  if (mismatch.barrier_number != barrier_number) [[likely]]
    return MPI_SUCCESS;
  if (mismatch.is_pause) {
    self.is_pause_due = true;
    return MPI_SUCCESS;
  }
  return mismatch.explain(self.detail());
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
  SORREL_ASSERT(member_count_ > 1 && processes_ == nullptr);
  ++comm.barrier_count;
  publish(comm, operand);
  BarrierNode& barrier_node = barrier_node_of(self, comm);
  barrier_node.reduction.kernel = nullptr;
  barrier_node.vectors = &arguments;
  barrier_node.is_total_needed |= total != nullptr;
  // It stays if the nodes are made anew while the members wait.
  BarrierNode& has_total = barrier_node.peer == nullptr ? *barrier_nodes_.front() : barrier_node;
  const std::uint32_t barrier_number = comm.barrier_count;
  if (const int error = arrive(self, comm, barrier_node); error != MPI_SUCCESS) return error;
  if (total != nullptr) *total = has_total.fold_of(barrier_number).last().totals().front().elements;
  return MPI_SUCCESS;
}

std::vector<std::int32_t> CollectiveSlots::members_of(const BarrierNode& barrier_node) const {
  const Endpoint endpoint = world_.endpoint_of(*barrier_node.worker);
  std::vector<std::int32_t> members;
  for (std::int32_t i = 0; i < member_count_; ++i) {
    if (endpoint_of(i) == endpoint) members.push_back(i);
  }
  return members;
}

/// Vectors of members in different calls are not combined.
[[gnu::noinline]] void CollectiveSlots::fold_members(BarrierNode& barrier_node) {
  if (barrier_node.has_mismatch()) return;
  std::unique_ptr<NodeFold>& fold = barrier_node.fold_of(barrier_node.barrier_number).members;
  if (fold == nullptr) {
    // A member's own vector may change while the peer reads the total.
    const auto alone =
        barrier_node.peer == nullptr ? NodeFold::Alone::as_it_is : NodeFold::Alone::copied;
    fold = std::make_unique<NodeFold>(member_count_, members_of(barrier_node), alone);
  }
  fold->fold(*barrier_node.vectors, published_.get());
}

/// With the totals of the children or the peer.
[[gnu::noinline]] void CollectiveSlots::fold_others(BarrierNode& barrier_node) {
  const ReductionArguments& arguments = *std::exchange(barrier_node.vectors, nullptr);
  const bool is_needed = std::exchange(barrier_node.is_total_needed, false);
  // A pair's other node may need it, which computes its own.
  if (barrier_node.has_mismatch() || (barrier_node.peer != nullptr && !is_needed)) return;
  const std::uint32_t number = barrier_node.barrier_number;
  VectorFold& fold = barrier_node.fold_of(number);
  if (fold.with_others == nullptr) {
    std::vector<const NodeFold*> parts;
    for (BarrierNode* child : barrier_node.children)
      parts.push_back(&child->fold_of(number).last());
    if (barrier_node.peer != nullptr)
      parts.push_back(barrier_node.peer->fold_of(number).members.get());
    if (parts.empty()) return;
    parts.push_back(fold.members.get());
    fold.with_others = std::make_unique<NodeFold>(member_count_, parts);
  }
  fold.with_others->fold(arguments, published_.get());
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
      fold_block(barrier_node, block);
  }
  if (barrier_node.peer != nullptr) {
    contribute(barrier_node);
    if (!barrier_node.from_peer.has_arrived) return false;
    complete_pair(barrier_node);
    return true;
  }
  barrier_node.arrived_member_count = 0;
  barrier_node.arrived_child_count = 0;
  if (barrier_node.vectors != nullptr) fold_others(barrier_node);
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
  if (processes_ == nullptr && !barrier_node.has_mismatch()) [[likely]] {
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
                             child.has_mismatch() ? &child.mismatch() : nullptr);
  };
  barrier_node.worker->post(*barrier_node.parent->worker, barrier_node.up);
}

void CollectiveSlots::take_report(const BarrierNode& child,
                                  const MemberCall& first_call,
                                  std::uint32_t barrier_number,
                                  std::span<const std::byte> operand,
                                  const CollectiveMismatch* mismatch) {
  BarrierNode& parent = *child.parent;
  SORREL_ASSERT(parent.arrived_child_count < parent.children.size());
  SORREL_ASSERT(operand.empty() || child.operand_rank >= 0);
  compare_call(parent, first_call.call, first_call.rank, barrier_number);
  if (mismatch != nullptr && !parent.has_mismatch()) parent.mismatch() = *mismatch;
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
  if (!barrier_node.has_mismatch()) [[likely]] {
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
  if (barrier_node.has_mismatch()) posted->mismatch = barrier_node.mismatch();
  barrier_node.worker->post(*peer.worker, *posted);
}

void CollectiveSlots::take_contribution(BarrierNode& barrier_node,
                                        const MemberCall& first_call,
                                        std::uint32_t barrier_number,
                                        std::span<const std::byte> values,
                                        const CollectiveMismatch* mismatch) {
  SORREL_ASSERT(barrier_node.worker == core::Worker::current());
  PeerContribution& from_peer = barrier_node.from_peer;
  SORREL_ASSERT(!from_peer.has_arrived, "the peer is two barriers ahead");
  from_peer.has_arrived = true;
  from_peer.barrier_number = barrier_number;
  from_peer.first_call = first_call;
  if (mismatch != nullptr) from_peer.mismatch = *mismatch;
  if (!values.empty()) {
    const std::size_t bytes = values.size() / barrier_node.peer_value_count;
    const std::byte* value = values.data();
    for (const RankRun& run : barrier_node.ranks_of_peer) {
      const std::size_t run_bytes = static_cast<std::size_t>(run.count) * bytes;
      copy_bytes(value_of(barrier_node, bytes, run.first), value, run_bytes);
      value += run_bytes;
    }
  }
  if (barrier_node.arrived_member_count == barrier_node.member_count) complete_pair(barrier_node);
}

/// All members have arrived, and the peer's: both nodes find the same result, each for its members.
void CollectiveSlots::complete_pair(BarrierNode& barrier_node) {
  compare_with_peer(barrier_node);
  barrier_node.from_peer.has_arrived = false;
  barrier_node.arrived_member_count = 0;
  if (barrier_node.vectors != nullptr) fold_others(barrier_node);
  fold_if_reduction(barrier_node);
  release(barrier_node);
}

/// Both nodes find the same mismatch: the first node's own, else the second one's, else that their
/// calls differ.
void CollectiveSlots::compare_with_peer(BarrierNode& barrier_node) {
  const PeerContribution& from_peer = barrier_node.from_peer;
  const std::uint32_t number = barrier_node.barrier_number;
  SORREL_ASSERT(from_peer.barrier_number == number, "a pair is in barriers %u and %u", number,
                from_peer.barrier_number);
  const bool has_own = barrier_node.has_mismatch();
  const bool has_peers = from_peer.mismatch.barrier_number == number;
  const bool is_same = barrier_node.first_call.call == from_peer.first_call.call;
  if (is_same && !has_own && !has_peers) [[likely]]
    return;
  const bool is_first = &barrier_node == barrier_nodes_.front().get();
  if (has_own && (is_first || !has_peers)) return;
  if (has_peers) {
    barrier_node.mismatch() = from_peer.mismatch;
    return;
  }
  barrier_node.mismatch() = {.barrier_number = number,
                             .first = is_first ? barrier_node.first_call : from_peer.first_call,
                             .other = is_first ? from_peer.first_call : barrier_node.first_call};
}

/// Returns true if the root has been released at once.
bool CollectiveSlots::release_specially(BarrierNode& root) {
  if (processes_ != nullptr) return begin_process_barrier(root);
  fold_if_reduction(root);
  if (may_be_held(root.first_call.call) && !root.has_mismatch()) {
    const bool is_pause = may_pause() && begin_pause(root, world_.job().vote_on_pause());
    if (!is_pause && world_.balance_point() != nullptr && world_.balance_point()->hold(*this))
      return false;
  }
  release(root);
  return true;
}

/// Marks the barrier if the ranks pause after it.
bool CollectiveSlots::begin_pause(BarrierNode& root, std::uint32_t votes) {
  if (votes == 0 || !world_.job().begin_pause(votes)) return false;
  root.mismatch().barrier_number = root.barrier_number;
  root.mismatch().is_pause = true;
  return true;
}

void CollectiveSlots::release(BarrierNode& barrier_node) {
  core::Worker& worker = *barrier_node.worker;
  SORREL_ASSERT(&worker == core::Worker::current());
  SORREL_ASSERT(barrier_node.arrived_member_count == 0 && barrier_node.arrived_child_count == 0,
                "a member has arrived at the next barrier before the release of this one");
  const bool has_members = barrier_node.member_count != 0;
  for (BarrierNode* child : barrier_node.children) {
    release_child(barrier_node, *child);
    core::perturb(worker.id(), core::PerturbedPoint::release);
  }
  if (has_members) worker.make_all_ready(barrier_node.waiting);
}

void CollectiveSlots::release_child(BarrierNode& parent, BarrierNode& child) {
  if (!parent.has_mismatch()) [[likely]] {
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
    if (released.parent->mismatches[parity].barrier_number == released.barrier_number) [[unlikely]]
      released.mismatches[parity] = released.parent->mismatches[parity];
    released.slots->release(released);
  };
  parent.worker->post(*child.worker, child.down);
}

/// Folds the operands of a block into that of its first rank, left to right.
void CollectiveSlots::fold_block(BarrierNode& barrier_node, std::int32_t block) {
  const SmallReduction& reduction = barrier_node.reduction;
  const std::int32_t first = block * block_rank_count;
  const std::int32_t last = std::min(first + block_rank_count, member_count_);
  SORREL_ASSERT(first < last && reduction.kernel != nullptr);
  std::byte* const values = value_of(barrier_node, reduction.bytes, first);
  alignas(16) std::array<std::byte, small_reduction_bytes_max> total;
  std::memcpy(total.data(), values, reduction.bytes);
  std::byte* value = values;
  for (std::int32_t rank = first + 1; rank < last; ++rank) {
    value += reduction.bytes;
    // The predefined operations commute bit for bit, so the running total may be on either side.
    reduction.kernel(value, total.data(), total.data(), reduction.element_count);
  }
  std::memcpy(values, total.data(), reduction.bytes);
}

/// Operands of different sizes cannot be combined.
[[gnu::always_inline]] inline void CollectiveSlots::fold_if_reduction(BarrierNode& root) {
  if (root.reduction.kernel == nullptr || root.has_mismatch()) return;
  for (const std::int32_t block : shared_blocks_)
    fold_block(root, block);
  combine_blocks(root);
}

void CollectiveSlots::combine_blocks(BarrierNode& root) {
  const SmallReduction& reduction = root.reduction;
  std::memcpy(root.result.data(), value_of(root, reduction.bytes, 0), reduction.bytes);
  for (std::int32_t block = 1; block < block_count(member_count_); ++block) {
    reduction.kernel(value_of(root, reduction.bytes, block * block_rank_count), root.result.data(),
                     root.result.data(), reduction.element_count);
  }
}

/// The members of this process have arrived. Returns true if all other members have, too, and this
/// node has been released at once.
bool CollectiveSlots::begin_process_barrier(BarrierNode& root) {
  SORREL_ASSERT(root.parent == nullptr && left_count_.load(std::memory_order_relaxed) == 0);
  if (root.has_mismatch()) [[unlikely]]
    end_job_with(root.mismatch());
  if (root.is_local_barrier) {
    root.is_local_barrier = false;
    release(root);
    return true;
  }
  const bool has_values = root.reduction.kernel != nullptr;
  if (has_values) {
    for (const std::int32_t block : shared_blocks_)
      fold_block(root, block);
  }
  if (process_barrier_ == nullptr) {
    WorkerState& state = world_.state_of(*root.worker);
    process_barrier_ = &state.process_barriers->of(context_);
    process_barrier_->attach(*processes_, *contributions_, *this, *state.send_queue);
  }
  const std::uint32_t votes =
      may_pause() && may_be_held(root.first_call.call) ? world_.job().vote_on_pause() : 0;
  return process_barrier_->begin(root.first_call, has_values ? root.reduction.bytes : 0, votes);
}

/// Members of other processes wait for messages that will not come: no error handler can resolve
/// that.
void CollectiveSlots::end_job_with(const CollectiveMismatch& mismatch) {
  ErrorDetail detail;
  const int error_class = mismatch.explain(detail);
  char text[400];
  std::snprintf(text, sizeof text, "%s: %s: %s", name_of(mismatch.other.call).c_str(),
                error_string(error_class), detail.text());
  world_.job().end_job(nullptr, error_class, text);
}

std::byte* CollectiveSlots::value(std::int32_t rank) {
  const BarrierNode& root = *barrier_nodes_.front();
  return value_of(root, root.reduction.bytes, rank);
}

const std::byte* CollectiveSlots::combine() {
  BarrierNode& root = *barrier_nodes_.front();
  for (const std::int32_t block : spread_blocks_)
    fold_block(root, block);
  combine_blocks(root);
  return root.result.data();
}

bool CollectiveSlots::release_all(const std::byte* result, std::uint32_t votes) {
  BarrierNode& root = *barrier_nodes_.front();
  const bool is_pause = begin_pause(root, votes);
  if (result != nullptr && result != root.result.data())
    std::memcpy(root.result.data(), result, root.reduction.bytes);
  is_held_ = !is_pause && views_.size() == static_cast<std::size_t>(world_.size()) &&
             may_be_held(root.first_call.call) && world_.balance_point()->hold(*this);
  if (is_held_) return false;
  release(root);
  return true;
}

void CollectiveSlots::leave(const Comm& comm) {
  if (!views_.empty() && views_[static_cast<std::size_t>(comm.rank)] == &comm)
    views_[static_cast<std::size_t>(comm.rank)] = nullptr;
  if (processes_ == nullptr || comm.barrier_node == nullptr) return;
  // Acquire and release: the last one sees the process barrier, in which no member is.
  const std::uint32_t left_count = left_count_.fetch_add(1, std::memory_order_acq_rel) + 1;
  SORREL_ASSERT(left_count <= own_member_count_);
  if (left_count != own_member_count_ || process_barrier_ == nullptr) return;
  core::Worker* here = core::Worker::current();
  core::Worker& root = *barrier_nodes_.front()->worker;
  // After the end of the workers no thread but this one uses the barrier.
  if (here == nullptr || here == &root) return process_barrier_->abandon();

  struct Abandon : core::RemoteCall {
    ProcessBarrier* barrier = nullptr;
  };

  auto* abandon = new Abandon;
  abandon->barrier = process_barrier_;
  abandon->run = [](core::Worker&, core::RemoteCall& call) {
    const std::unique_ptr<Abandon> taken(&static_cast<Abandon&>(call));
    taken->barrier->abandon();
  };
  here->post(root, *abandon);
}

int CollectiveSlots::staging(RankState& self, Comm& comm, std::size_t bytes, std::byte** buffer) {
  SORREL_ASSERT(processes_ == nullptr, "only the members of this process would be in step");
  // Every member sees the same size here: it changes only between two barriers of all members.
  if (staging_bytes_ < bytes) {
    bytes = std::bit_ceil(bytes);
    if (const int error = barrier(self, comm); error != MPI_SUCCESS) return error;
    if (comm.rank == 0) {
      for (auto& staged : staging_)
        staged = std::make_unique_for_overwrite<std::byte[]>(bytes);
      staging_bytes_ = bytes;
    }
    barrier(self, comm);
    SORREL_ASSERT(staging_bytes_ >= bytes, "the members disagree on the size");
  }
  *buffer = staging_[comm.barrier_count % 2].get();
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
