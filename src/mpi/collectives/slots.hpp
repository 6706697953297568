//! CollectiveSlots - shared state of a communicator's collectives: one barrier, one pointer per
//! member, one small reduction.
//!
//! Every collective is a sequence of phases: publish() a pointer to what the other members need,
//! barrier(), read what they published. A phase costs a member one counter of its own worker. Two
//! workers send each other their contributions; more of them report upwards through a tree and are
//! released downwards. There are no atomics: a member's writes reach the other members through the
//! workers' mailboxes. The values of a small reduction are combined on the way, in an order that
//! depends on the number of members alone, not on their workers. README.md has the protocol and the
//! proof that one set of slots suffices.
//!
//! Members call in the same order, as MPI requires. barrier() may suspend; publish() and leave()
//! never do.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/cache_line.hpp"
#include "base/check.hpp"
#include "core/fiber.hpp"
#include "core/remote_call.hpp"
#include "mpi/base/tuning.hpp"
#include "mpi/collectives/node_fold.hpp"
#include "mpi/collectives/process_barrier.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/op/op.hpp"

namespace sorrel::mpi {

class CollectiveSlots;
class Group;
struct RankState;
struct ReductionArguments;
class World;

/// A reduction whose operands are short enough to be stored in the slots themselves.
struct SmallReduction {
  ReduceKernel kernel = nullptr;
  std::uint32_t element_count = 0;
  std::uint32_t bytes = 0;
};

inline constexpr std::size_t small_reduction_bytes_max = 32;

/// A short allreduce of predefined objects, by the handles of its call: the next call with the same
/// ones needs no checks but those of its buffers.
struct KnownReduction {
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  MPI_Count count = 0;
  /// Without a kernel nothing is known.
  SmallReduction reduction;
  CollectiveCall call;

  [[nodiscard]] bool is_of(MPI_Datatype a_datatype, MPI_Op an_op, MPI_Count a_count) const {
    return datatype == a_datatype && op == an_op && count == a_count && reduction.kernel != nullptr;
  }
};

/// A staging buffer has at least this size, so that it seldom grows.
inline constexpr std::size_t staging_bytes_min = 4096;

/// A node's report to its parent, the release of a node, and what two nodes send each other:
/// mailbox records with all that the receiver needs, so that it reads no line of the other core.
/// What is rare goes by RemoteCall.
inline constexpr core::RecordKind barrier_report_kind = 2;
inline constexpr core::RecordKind barrier_release_kind = 3;
inline constexpr core::RecordKind barrier_contribution_kind = 4;

/// Before the workers run: sets the handlers of these records.
void set_barrier_runners(core::Scheduler& scheduler);

/// Consecutive ranks.
struct RankRun {
  std::int32_t first;
  std::int32_t count;
};

/// What a node has of the other one of a pair, until its own members have arrived.
struct PeerContribution {
  bool has_arrived = false;
  std::uint32_t barrier_number = 0;
  MemberCall first_call;
  /// With the number of the barrier if members of the peer are in different calls.
  CollectiveMismatch mismatch;
};

/// Combines the vectors of a worker's members, and these totals with those of its children or its
/// peer; created at the first such barrier.
struct VectorFold {
  std::unique_ptr<NodeFold> members;
  /// Null where there are no others.
  std::unique_ptr<NodeFold> with_others;

  [[nodiscard]] const NodeFold& last() const {
    return with_others == nullptr ? *members : *with_others;
  }
};

/// The members that one worker runs. Its worker only.
struct alignas(cache_line_bytes) BarrierNode {
  struct Report : core::RemoteCall {
    BarrierNode* barrier_node = nullptr;
  };

  // Constant after construction. What the parent's worker reads lies in one line.
  core::Worker* worker = nullptr;
  CollectiveSlots* slots = nullptr;
  BarrierNode* parent = nullptr;
  /// The rank of its only member, whose operand of a small reduction it reports; -1: it reports
  /// none.
  std::int32_t operand_rank = -1;
  std::uint32_t member_count = 0;
  std::vector<BarrierNode*> children;
  /// The other one of two nodes, of which neither is the parent.
  BarrierNode* peer = nullptr;
  /// The operands of a small reduction: of its own for one of a pair, else shared by all nodes.
  std::byte* values = nullptr;
  /// Blocks of consecutive members that this worker runs entirely.
  std::vector<std::int32_t> own_blocks;
  /// The ranks under whose numbers it has operands for its peer: the first one of each of its
  /// blocks, and its members of other blocks. And those of its peer, so that it reads only its own.
  std::vector<RankRun> ranks_for_peer;
  std::vector<RankRun> ranks_of_peer;
  std::uint32_t peer_value_count = 0;

  // Worker only.
  std::uint32_t arrived_member_count = 0;
  std::uint32_t arrived_child_count = 0;
  /// The call of the first arrival, and the number of its barrier.
  MemberCall first_call;
  std::uint32_t barrier_number = 0;
  core::FiberQueue waiting;
  /// At the root node, if the members are in several processes: the barrier is a local_barrier().
  bool is_local_barrier = false;
  SmallReduction reduction;
  alignas(16) std::array<std::byte, small_reduction_bytes_max> result{};
  /// The operand of `operand_rank`.
  alignas(16) std::array<std::byte, small_reduction_bytes_max> operand{};
  /// If the barrier combines vectors: of some member that has arrived. Its memory stays until the
  /// release.
  const ReductionArguments* vectors = nullptr;
  /// Some member needs the total of all.
  bool is_total_needed = false;
  /// The folds of one of a pair take turns, since the peer may still read the last totals.
  std::array<VectorFold, 2> folds;
  PeerContribution from_peer;
  /// The last one that succeeded. Of the node and not of its members, so that all of them find it
  /// in the same cache lines.
  KnownReduction known;

  /// Found in the barrier of this number's parity; read by members after their release.
  std::array<CollectiveMismatch, 2> mismatches;

  /// Mismatch found by members or children in the current barrier; holds another number if there is
  /// none.
  [[nodiscard]] CollectiveMismatch& mismatch() { return mismatches[barrier_number % 2]; }

  [[nodiscard]] bool has_mismatch() { return mismatch().barrier_number == barrier_number; }

  /// The fold of a barrier.
  [[nodiscard]] VectorFold& fold_of(std::uint32_t number) {
    return folds[peer == nullptr ? 0 : number % 2];
  }

  /// Lent to the parent's worker from the report to the release.
  Report up;
  /// Lent to this worker by the parent's, from the release to the next report.
  Report down;
};

class CollectiveSlots final : private BarrierSite {
 public:
  /// `processes` is null for members of one process.
  CollectiveSlots(World& world,
                  const Group& group,
                  std::uint32_t context,
                  const ProcessMap* processes,
                  const CollectiveLimits& limits);
  ~CollectiveSlots();

  [[nodiscard]] std::int32_t member_count() const { return member_count_; }

  /// A limit of this communicator.
  [[nodiscard]] std::size_t limit(Limit limit) const {
    return limits_[static_cast<std::size_t>(limit)];
  }

  /// Publishes a pointer that the other members of this process may read after the next barrier().
  /// It must stay valid until the barrier() after that.
  void publish(const Comm& comm, const void* pointer);

  /// The pointer that member `rank` published.
  template <class T>
  [[nodiscard]] const T& published_by(std::int32_t rank) const {
    SORREL_ASSERT(rank >= 0 && rank < member_count_);
    return *static_cast<const T*>(published_[static_cast<std::size_t>(rank)]);
  }

  /// Returns when every member has arrived. All members get the same error class if their calls
  /// (Comm::call) differ; over several processes that ends the job. May suspend.
  int barrier(RankState& self, Comm& comm);

  /// barrier() of the members in this process.
  int local_barrier(RankState& self, Comm& comm);

  /// barrier() that also combines the operands of all members: left-to-right in blocks of ranks,
  /// then the blocks. `operand` and `result` have reduction.bytes bytes. May suspend.
  int barrier_and_reduce(RankState& self,
                         Comm& comm,
                         const SmallReduction& reduction,
                         const void* operand,
                         void* result);

  /// Whether barrier_and_fold() serves vectors of so many bytes. The same at all members.
  [[nodiscard]] bool may_fold(std::size_t bytes) const {
    return has_few_runs_ && bytes <= limit(Limit::reduce_on_arrival);
  }

  /// barrier() that also combines the vectors of all members, which are in one process: a
  /// predefined operation on a dense type. On return `*total` has the result, valid until the
  /// caller's next barrier; null for a member that needs none. May suspend.
  int barrier_and_fold(RankState& self,
                       Comm& comm,
                       const ReductionArguments& arguments,
                       const void* operand,
                       const void** total);

  /// Remembers the short allreduce with which `comm` has just succeeded.
  static void remember(const Comm& comm,
                       const ReductionArguments& arguments,
                       const SmallReduction& reduction);

  /// Two buffers of `bytes` used in turn, so that one barrier() separates writing from reading. All
  /// members call with the same `bytes`. The members are those of one process. May suspend. Fails
  /// as barrier() does.
  int staging(RankState& self, Comm& comm, std::size_t bytes, std::byte** buffer);

  /// Called when a member frees the communicator, on its worker.
  void leave(const Comm& comm);

  // For a BalancePoint.
  /// Whether all members in this process wait in a barrier.
  [[nodiscard]] bool do_all_wait() const;

  /// False: a member has several views, of which only one is known here.
  [[nodiscard]] bool may_regroup() const { return !has_unknown_views_; }

  /// While all workers are stopped: makes the nodes anew, for the workers that the members have
  /// now. No member is in a barrier, or all wait in one that is held.
  void regroup();
  /// Ends a barrier that is held. While all workers are stopped; or on the worker of the root's
  /// node, if no node has been made anew.
  void release_stopped();
  void release_held();

  /// `child` reports its first call, which may be that of a member of another node below it, the
  /// operand of its `operand_rank` or none, and a mismatch or null. On the parent's worker.
  void take_report(const BarrierNode& child,
                   const MemberCall& first_call,
                   std::uint32_t barrier_number,
                   std::span<const std::byte> operand,
                   const CollectiveMismatch* mismatch);

  /// On the node's worker, when its parent has been released. A node without members may be gone
  /// afterwards, with the slots: the released members may have freed the communicator.
  void release(BarrierNode& barrier_node);

  /// On the node's worker: its peer's members have arrived, their first one in `first_call`.
  /// `values` are the operands of `ranks_of_peer`; `mismatch` may be null.
  void take_contribution(BarrierNode& barrier_node,
                         const MemberCall& first_call,
                         std::uint32_t barrier_number,
                         std::span<const std::byte> values,
                         const CollectiveMismatch* mismatch);

  /// While all workers of the job are stopped, and no member is in a barrier: nothing of barriers
  /// over processes is left, here or in the view of a member.
  void end_process_barrier();

  /// No member is in a barrier; while none can be.
  void check_invariants() const;

 private:
  void make_barrier_nodes();
  void assign_blocks();
  void make_pair();
  [[nodiscard]] std::vector<std::int32_t> operand_ranks_of(const BarrierNode& barrier_node) const;
  void assign_values();
  [[nodiscard]] Endpoint endpoint_of(std::int32_t rank) const;
  void add_view(Comm& comm);
  bool release_specially(BarrierNode& root);
  [[nodiscard]] bool may_pause() const;
  [[nodiscard]] BarrierNode* node_of(const core::Worker& worker) const;
  BarrierNode& barrier_node_of(RankState& self, Comm& comm);
  int arrive(RankState& self, Comm& comm, BarrierNode& barrier_node);
  static void compare_call(BarrierNode& barrier_node,
                           const CollectiveCall& call,
                           std::int32_t rank,
                           std::uint32_t barrier_number);
  bool complete_if_all_arrived(BarrierNode& barrier_node);
  void report(BarrierNode& barrier_node);
  void contribute(BarrierNode& barrier_node);
  void complete_pair(BarrierNode& barrier_node);
  void compare_with_peer(BarrierNode& barrier_node);
  void release_child(BarrierNode& parent, BarrierNode& child);
  bool begin_process_barrier(BarrierNode& root);
  bool begin_pause(BarrierNode& root, std::uint32_t votes);
  [[noreturn]] void end_job_with(const CollectiveMismatch& mismatch);
  std::byte* value(std::int32_t rank) override;
  const std::byte* combine() override;
  bool release_all(const std::byte* result, std::uint32_t votes) override;
  void fold_block(BarrierNode& barrier_node, std::int32_t block);
  void fold_members(BarrierNode& barrier_node);
  void fold_others(BarrierNode& barrier_node);
  [[nodiscard]] std::vector<std::int32_t> members_of(const BarrierNode& barrier_node) const;
  void fold_if_reduction(BarrierNode& root);
  void combine_blocks(BarrierNode& root);

  [[nodiscard]] std::byte* value_of(const BarrierNode& barrier_node,
                                    std::size_t bytes,
                                    std::int32_t rank) const {
    SORREL_ASSERT(rank >= 0 && rank < member_count_ && bytes <= small_reduction_bytes_max);
    return barrier_node.values + static_cast<std::size_t>(rank) * bytes;
  }

  // Constant after construction.
  World& world_;
  /// The group of the communicator, which owns the slots.
  const Group& group_;
  std::int32_t member_count_;
  /// Members in this process.
  std::uint32_t own_member_count_ = 0;
  /// Its release needs messages to other processes, may be held by the balance point, or may begin
  /// a pause.
  bool is_release_special_ = false;
  // Changed by regroup() only.
  std::vector<std::unique_ptr<BarrierNode>> barrier_nodes_;
  /// The nodes before the last regroup(), from which members read the result of the barrier in
  /// which they waited.
  std::vector<std::unique_ptr<BarrierNode>> former_nodes_;
  /// All members are in this process, and most workers have consecutive ones: few nodes of the tree
  /// make up the total of a worker.
  bool has_few_runs_ = false;
  /// Blocks of members of this process on several workers: folded by the root.
  std::vector<std::int32_t> shared_blocks_;
  /// Null for members of one process; so are the following ones.
  const ProcessMap* processes_;
  std::uint32_t context_;
  std::unique_ptr<ContributionMap> contributions_;
  /// Blocks of members of several processes: folded when all values have arrived.
  std::vector<std::int32_t> spread_blocks_;
  /// The root's worker only; created at the first barrier over processes.
  ProcessBarrier* process_barrier_ = nullptr;

  /// Members in this process that have been in a barrier and have freed the communicator.
  std::atomic<std::uint32_t> left_count_{0};

  /// Each member's view, once it has found its node. Empty if members stay on their workers.
  /// Written by each member for itself.
  std::vector<Comm*> views_;
  std::atomic<bool> has_unknown_views_{false};
  /// Over several processes: the balance point holds the barrier that has just ended. The root's
  /// worker only.
  bool is_held_ = false;

  // Written by each member for itself before it arrives, read by the other members afterwards.
  std::unique_ptr<const void*[]> published_;
  /// Operands of all nodes, or of each one of a pair.
  std::unique_ptr<std::byte[]> values_;

  // Written by member 0 between two barriers.
  std::array<std::unique_ptr<std::byte[]>, 2> staging_;
  std::size_t staging_bytes_ = 0;

  const CollectiveLimits limits_;
};

/// The last short allreduce on the worker of `comm`, if it was of these arguments; else null.
[[nodiscard]] inline const KnownReduction* known_reduction(const Comm& comm,
                                                           MPI_Datatype datatype,
                                                           MPI_Op op,
                                                           MPI_Count count) {
  const BarrierNode* barrier_node = comm.barrier_node;
  if (barrier_node == nullptr || !barrier_node->known.is_of(datatype, op, count)) return nullptr;
  return &barrier_node->known;
}

}  // namespace sorrel::mpi
