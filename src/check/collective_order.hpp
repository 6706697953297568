//! CollectiveOrder - compares the collective calls of all ranks: each communicator has a sequence
//! of calls, which must be the same on all its members (MPI 5.0, 6.14).
//!
//! One worker. The first member that makes a call is the model for the others.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check/checked_call.hpp"
#include "check/collective_record.hpp"
#include "check/finding_log.hpp"
#include "check/type_signature.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::check {

/// Which arguments of a collective must agree, and how.
enum class CollectiveShape : std::uint8_t {
  order_only,
  broadcast,
  reduction,       ///< count, datatype, op, and root where there is one
  reduce_blocks,   ///< recvcount, datatype and op
  reduce_scatter,  ///< with an array of counts
  gather,
  scatter,
  all_to_all,  ///< and MPI_Allgather: one block size for all
  gather_list,
  scatter_list,
  all_gather_list,
  all_to_all_list,
  all_to_all_types,
};

class CollectiveOrder {
 public:
  explicit CollectiveOrder(FindingLog& findings);

  /// Whether the call is a collective one on a communicator.
  [[nodiscard]] bool has(const CheckedCall& call) const;

  /// Whether a collective call may return before the other members have made it.
  [[nodiscard]] static bool may_return_early(const CheckedCall& call);

  /// The rank makes a collective call on a valid communicator. False if it cannot match the calls
  /// of the other members, so that no member can continue.
  [[nodiscard]] bool add(const mpi::RankState& self,
                         const mpi::Comm& comm,
                         const CheckedCall& call);

  /// The call, for members in other processes; add() has been called, but for MPI_Finalize.
  [[nodiscard]] CollectiveRecord record_of(const mpi::RankState& self,
                                           const mpi::Comm& comm,
                                           const CheckedCall& call);

  /// A member of another process has made another call in the place of `own`. False if the two
  /// cannot match, so that no member can continue.
  [[nodiscard]] bool add_difference(const CollectiveRecord& own,
                                    const CallPlace& place,
                                    const CollectiveRecord& other);

 private:
  /// Data that a member sends to a peer or receives from it.
  struct Flow {
    std::int32_t peer;
    TypeSignature signature;
  };

  struct Member {
    std::int32_t rank;
    CallPlace place;
    std::vector<Flow> sends = {};
    std::vector<Flow> receives = {};
  };

  /// A call of all members, as far as they have made it.
  struct Round {
    Function function;
    std::int32_t root = 0;
    MPI_Op op = MPI_OP_NULL;
    /// What all members must have alike; of the first member that has it.
    std::vector<TypeSignature> alike = {};
    CallPlace first;
    /// Counts the members in this process.
    std::int32_t arrived_count = 0;
    std::vector<Member> members = {};
  };

  struct Sequence {
    std::uint64_t first = 0;
    std::deque<Round> rounds;
    /// By member: how many it has made.
    std::vector<std::uint64_t> counts;
    /// By member: a hash of the nonblocking and persistent calls among them.
    std::vector<std::uint64_t> earlier;
  };

  static Round begin_round(const CheckedCall& call, const CallPlace& place);
  static void add_early(std::uint64_t& earlier, const CheckedCall& call);
  static void end_rounds(Sequence& sequence, const mpi::Comm& group, const Round& round);
  bool compare_root(const Round& round, const CheckedCall& call, const CallPlace& place);
  void compare_op(const Round& round, const CheckedCall& call, const CallPlace& place);
  void compare_data(Round& round,
                    const mpi::Comm& comm,
                    const CheckedCall& call,
                    const CallPlace& place,
                    CollectiveShape shape);
  void compare_alike(Round& round, std::vector<TypeSignature> own, const CallPlace& place);
  void compare_lists(Round& round,
                     const mpi::Comm& comm,
                     const CheckedCall& call,
                     const CallPlace& place,
                     CollectiveShape shape);
  void compare_flows(const Member& sender, const Member& receiver);

  FindingLog& findings_;
  std::map<std::string, CollectiveShape, std::less<>> shapes_;
  std::map<std::uint32_t, Sequence> sequences_;
};

}  // namespace sorrel::check
