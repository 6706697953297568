//! CollectiveOrder - compares the collective calls of all ranks: each communicator has a sequence
//! of calls, which must be the same on all its members (MPI 5.0, 6.14).
//!
//! One worker. The first member that makes a call is the model for the others.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "check/checked_call.hpp"
#include "check/finding_log.hpp"
#include "check/type_signature.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::check {

/// Which arguments of a collective must agree, and how.
enum class CollectiveShape : std::uint8_t {
  order_only,
  broadcast,
  reduction,       ///< count, datatype, op, and root where there is one
  reduce_blocks,   ///< the same with recvcount
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

  /// The rank makes a collective call on a valid communicator. False if it cannot match the calls
  /// of the other members, so that no member can continue.
  [[nodiscard]] bool add(const mpi::RankState& self,
                         const mpi::Comm& comm,
                         const CheckedCall& call);

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
    std::int32_t arrived_count = 0;
    std::vector<Member> members = {};
  };

  struct Sequence {
    std::uint64_t first = 0;
    std::deque<Round> rounds;
    /// By member: how many it has made.
    std::vector<std::uint64_t> counts;
  };

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
  std::unordered_map<std::string_view, CollectiveShape> shapes_;
  std::map<std::uint32_t, Sequence> sequences_;
};

}  // namespace sorrel::check
