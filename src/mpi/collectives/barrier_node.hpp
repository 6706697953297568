//! BarrierNode - the members of a communicator that one worker runs, in a barrier: how many have
//! arrived, the fibers that wait, and the operands and results of reductions on the way.
//!
//! Its worker only. CollectiveSlots (slots.hpp) has the steps of a barrier, README.md the protocol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/line_pair.hpp"
#include "core/fiber.hpp"
#include "core/remote_call.hpp"
#include "mpi/base/collective_call.hpp"
#include "mpi/collectives/node_fold.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/op/op.hpp"

namespace sorrel::mpi {

class CollectiveSlots;
struct ReductionArguments;

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

/// Consecutive ranks.
struct RankRun {
  std::int32_t first;
  std::int32_t count;
};

/// What the members of a barrier learn from it beside that all have arrived. Rare.
struct BarrierOutcome {
  enum class Kind : std::uint8_t {
    mismatch,  ///< The calls of members differ.
    safepoint  ///< The members come to a safepoint at the end of their calls.
  };

  /// The number of the barrier, as Comm::barrier_count counts; 0: there is no outcome.
  std::uint32_t barrier_number = 0;
  CollectiveMismatch mismatch;
  Kind kind = Kind::mismatch;
};

/// What a node has of the other one of a pair, until its own members have arrived.
struct PeerContribution {
  bool has_arrived = false;
  std::uint32_t barrier_number = 0;
  MemberCall first_call;
  /// With the number of the barrier if members of the peer are in different calls.
  BarrierOutcome outcome;
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
struct alignas(LinePair) BarrierNode {
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
  /// At the first one of a pair: its contribution waits for its peer's, and for the decision
  /// whether a safepoint begins. And what is wished of it.
  bool is_held = false;
  std::uint32_t wishes = 0;
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
  std::array<BarrierOutcome, 2> outcomes;

  /// Found by members or children in the current barrier, or by the root; holds another number if
  /// there is none.
  [[nodiscard]] BarrierOutcome& outcome() { return outcomes[barrier_number % 2]; }

  /// Until the release.
  [[nodiscard]] bool has_outcome() { return outcome().barrier_number == barrier_number; }

  /// Until the release: whether calls differ.
  [[nodiscard]] bool has_mismatch() {
    return has_outcome() && outcome().kind == BarrierOutcome::Kind::mismatch;
  }

  /// The fold of a barrier.
  [[nodiscard]] VectorFold& fold_of(std::uint32_t number) {
    return folds[peer == nullptr ? 0 : number % 2];
  }

  /// Lent to the parent's worker from the report to the release.
  Report up;
  /// Lent to this worker by the parent's, from the release to the next report.
  Report down;
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
