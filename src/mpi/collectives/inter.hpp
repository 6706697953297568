//! Collectives on intercommunicators: data goes from one group to the other (MPI 5.0, 6.2).
//!
//! Each is made of collectives on the intracommunicator of the caller's group and of messages
//! between the groups, under the tag of the kind of collective. Rooted ones: the root passes
//! MPI_ROOT, the members of the other group its rank; the other members of its group, which pass
//! MPI_PROC_NULL, have no part, and do not call these functions. Between the groups a reduction or
//! a broadcast sends one message, the others one for each pair of ranks. Arguments as those of
//! collectives.hpp, which calls these; there is no MPI_IN_PLACE. May suspend.
#pragma once

#include "mpi/collectives/collectives.hpp"

namespace sorrel::mpi::inter {

[[nodiscard]] int barrier(const Member& member);

[[nodiscard]] int broadcast(const Member& member, const TypedBuffer& buffer, std::int32_t root);

/// `send` is not significant at the root, `receive` elsewhere.
[[nodiscard]] int gather(const Member& member,
                         const TypedBuffer* send,
                         const BlockList& receive,
                         std::int32_t root);

[[nodiscard]] int scatter(const Member& member,
                          const BlockList& send,
                          const TypedBuffer* receive,
                          std::int32_t root);

[[nodiscard]] int all_gather(const Member& member,
                             const TypedBuffer& send,
                             const BlockList& receive);

[[nodiscard]] int all_to_all(const Member& member, const BlockList& send, const BlockList& receive);

/// The operands of one group, in the order of its ranks.
[[nodiscard]] int reduce_to_root(const Member& member,
                                 const ReductionArguments& arguments,
                                 std::int32_t root);

/// Each group gets the result of the other one's operands.
[[nodiscard]] int all_reduce(const Member& member, const ReductionArguments& arguments);

/// `counts` are those of the caller's group; their sum is the same in both groups.
[[nodiscard]] int reduce_scatter(const Member& member,
                                 const ReductionArguments& arguments,
                                 Integers counts);

}  // namespace sorrel::mpi::inter
