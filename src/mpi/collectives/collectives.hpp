//! Collectives - each copies data directly between the members' buffers, between two or three
//! barriers of their slots.
//!
//! The caller has checked the arguments as far as one rank can, and has set Comm::call. If the
//! members' calls differ, all members get an error from the first barrier. Every function may
//! suspend and returns MPI_SUCCESS or an error class. MPI_IN_PLACE is a null `send` (or `receive`,
//! for scatter). Reductions combine in rank order: the result does not depend on the placement of
//! ranks on workers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/collectives/block_list.hpp"
#include "mpi/op/op.hpp"

namespace sorrel::mpi {

struct Comm;
struct RankState;

/// The calling rank and its view of the communicator.
struct Member {
  RankState& self;
  Comm& comm;
};

/// The operands of a reduction. `send` null: in place, the operand is in `receive`.
struct ReductionArguments {
  const void* send;
  void* receive;  ///< Null where the standard says it is not significant.
  std::size_t count;
  const Datatype& type;
  const Op& op;
  /// The loop of a predefined operation on this type; null for a user's.
  ReduceKernel kernel;
};

[[nodiscard]] int barrier(const Member& member);

[[nodiscard]] int broadcast(const Member& member, const TypedBuffer& buffer, std::int32_t root);

[[nodiscard]] int gather(const Member& member,
                         const TypedBuffer* send,
                         const BlockList& receive,
                         std::int32_t root);

[[nodiscard]] int all_gather(const Member& member,
                             const TypedBuffer* send,
                             const BlockList& receive);

[[nodiscard]] int scatter(const Member& member,
                          const BlockList& send,
                          const TypedBuffer* receive,
                          std::int32_t root);

[[nodiscard]] int all_to_all(const Member& member, const BlockList* send, const BlockList& receive);

[[nodiscard]] int reduce_to_root(const Member& member,
                                 const ReductionArguments& arguments,
                                 std::int32_t root);

[[nodiscard]] int all_reduce(const Member& member, const ReductionArguments& arguments);

/// Rank i gets the counts[i] elements after those of the previous ranks; without counts:
/// arguments.count elements each.
[[nodiscard]] int reduce_scatter(const Member& member,
                                 const ReductionArguments& arguments,
                                 Integers counts);

enum class ScanKind : std::uint8_t { inclusive, exclusive };

[[nodiscard]] int scan(const Member& member, const ReductionArguments& arguments, ScanKind kind);

}  // namespace sorrel::mpi
