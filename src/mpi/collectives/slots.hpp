//! CollectiveSlots - shared state of a communicator's collectives: one barrier, one pointer per
//! member, one small reduction.
//!
//! Every collective is a sequence of phases: publish() a pointer to what the other members need,
//! barrier(), read what they published. A phase costs a member one counter of its own worker. Two
//! workers send each other their contributions; more of them report upwards through a tree and are
//! released downwards. There are no atomics: a member's writes reach the other members through the
//! workers' mailboxes. The values of a small reduction are combined on the way, in an order that
//! depends on the number of members alone, not on their workers. README.md has the protocol and the
//! proof that one set of slots suffices. Here are the steps of a barrier; where its nodes are, how
//! operands and vectors are combined, and barriers over processes are in barrier_nodes,
//! small_reduction, vector_fold and process_slots.
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

#include "base/check.hpp"
#include "base/line_pair.hpp"
#include "mpi/base/tuning.hpp"
#include "mpi/collectives/barrier_node.hpp"
#include "mpi/collectives/barrier_nodes.hpp"
#include "mpi/collectives/process_slots.hpp"
#include "mpi/comm/comm.hpp"

namespace sorrel::mpi {

struct RankState;

/// A node's report to its parent, the release of a node, and what two nodes send each other:
/// mailbox records with all that the receiver needs, so that it reads no line of the other core.
/// What is rare goes by RemoteCall.
inline constexpr core::RecordKind barrier_report_kind = 2;
inline constexpr core::RecordKind barrier_release_kind = 3;
inline constexpr core::RecordKind barrier_contribution_kind = 4;

/// Before the workers run: sets the handlers of these records.
void set_barrier_runners(core::Scheduler& scheduler);

class CollectiveSlots {
 public:
  /// `processes` is null for members of one process.
  CollectiveSlots(World& world,
                  const Group& group,
                  std::uint32_t context,
                  const ProcessMap* processes,
                  const CollectiveLimits& limits);
  ~CollectiveSlots();
  CollectiveSlots(const CollectiveSlots&) = delete;
  CollectiveSlots& operator=(const CollectiveSlots&) = delete;

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
    return nodes_.has_few_runs() && bytes <= limit(Limit::reduce_on_arrival);
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

  /// Two buffers of `bytes` used in turn, so that one barrier() separates writing from reading.
  /// They begin at a pair of cache lines. All members call with the same `bytes`. The members are
  /// those of one process. May suspend. Fails as barrier() does.
  int staging(RankState& self, Comm& comm, std::size_t bytes, std::byte** buffer);

  /// Called when a member frees the communicator, on its worker.
  void leave(const Comm& comm);

  // For a ProcessParticipant of safepoints.
  /// Whether all members in this process wait in a barrier.
  [[nodiscard]] bool do_all_wait() const;

  /// False: a member has several views, of which only one is known here.
  [[nodiscard]] bool may_regroup() const { return !has_unknown_views_; }

  /// While all workers are stopped: makes the nodes anew, for the workers that the members have
  /// now. No member is in a barrier, or all wait in one for the safepoint.
  void regroup();
  /// Ends the barrier in which all wait: while all workers are stopped; or afterwards, on the
  /// worker of the root's node, if no node has been made anew.
  void release_at_safepoint();
  void release_after_safepoint();

  // For ProcessSlots, and the records of barriers.
  /// What this process wants of safepoints, if one may begin in the barrier of the root.
  [[nodiscard]] std::uint32_t wanted_safepoints(BarrierNode& root) const;

  /// All members have arrived. `wanted` of safepoints: in all processes. Returns true if they are
  /// released at once.
  bool release_root(BarrierNode& root, std::uint32_t wanted);

  /// `child` reports its first call, which may be that of a member of another node below it, the
  /// operand of its `operand_rank` or none, and an outcome or null. On the parent's worker.
  void take_report(const BarrierNode& child,
                   const MemberCall& first_call,
                   std::uint32_t barrier_number,
                   std::span<const std::byte> operand,
                   const BarrierOutcome* outcome);

  /// On the node's worker, when its parent has been released. A node without members may be gone
  /// afterwards, with the slots: the released members may have freed the communicator.
  void release(BarrierNode& barrier_node);

  /// On the node's worker: its peer's members have arrived, their first one in `first_call`.
  /// `values` are the operands of `ranks_of_peer`; `outcome` may be null.
  void take_contribution(BarrierNode& barrier_node,
                         const MemberCall& first_call,
                         std::uint32_t barrier_number,
                         std::span<const std::byte> values,
                         const BarrierOutcome* outcome);

  /// While all workers of the job are stopped, and no member is in a barrier: nothing of barriers
  /// over processes is left, here or in the view of a member.
  void end_process_barrier();

  /// No member is in a barrier; while none can be.
  void check_invariants() const;

 private:
  void add_view(Comm& comm);
  bool release_specially(BarrierNode& root);
  [[nodiscard]] bool decide(BarrierNode& root, std::uint32_t wanted);
  [[nodiscard]] bool may_be_safepoint(BarrierNode& root) const;
  BarrierNode& barrier_node_of(RankState& self, Comm& comm);
  int arrive(RankState& self, Comm& comm, BarrierNode& barrier_node);
  static void compare_call(BarrierNode& barrier_node,
                           const CollectiveCall& call,
                           std::int32_t rank,
                           std::uint32_t barrier_number);
  bool complete_if_all_arrived(BarrierNode& barrier_node);
  void report(BarrierNode& barrier_node);
  void contribute(BarrierNode& barrier_node);
  [[nodiscard]] bool hold(BarrierNode& barrier_node);
  [[nodiscard]] bool complete_pair(BarrierNode& barrier_node);
  void release_held_pair(BarrierNode& root);
  void release_of_pair(BarrierNode& barrier_node);
  void fold_of_pair(BarrierNode& barrier_node);
  void complete_held_pair();
  void compare_with_peer(BarrierNode& barrier_node);
  void release_child(BarrierNode& parent, BarrierNode& child);
  void fold_if_reduction(BarrierNode& root);

  // Constant after construction.
  const BarrierMembers members_;
  const std::int32_t member_count_;
  /// Its release needs messages to other processes, or may begin a safepoint.
  bool is_release_special_ = false;
  // Changed by regroup() only.
  BarrierNodes nodes_;
  /// The nodes before the last regroup(), from which members read the result of the barrier in
  /// which they waited.
  BarrierNodes former_nodes_;
  /// Null for members of one process.
  std::unique_ptr<ProcessSlots> over_processes_;

  /// Each member's view, once it has found its node. Empty if members stay on their workers.
  /// Written by each member for itself.
  std::vector<Comm*> views_;
  std::atomic<bool> has_unknown_views_{false};

  // Written by each member for itself before it arrives, read by the other members afterwards.
  std::unique_ptr<const void*[]> published_;

  // Written by member 0 between two barriers.
  std::array<std::unique_ptr<LinePair[]>, 2> staging_;
  std::size_t staging_bytes_ = 0;

  const CollectiveLimits limits_;
};

}  // namespace sorrel::mpi
