//! Creating communicators - all functions are collective over the parent, all may suspend.
//!
//! In each process one member creates the shared part of the new communicators there and passes it
//! to the members of that process; every member creates its own view. The context comes from the
//! process of the first member of the parent or the group. No two processes issue the same context
//! (World::new_contexts), so no agreement is needed, only a broadcast.
#pragma once

#include <memory>

#include "mpi/comm/comm.hpp"

namespace sorrel::mpi {

/// The parent's group again, under a new context.
[[nodiscard]] int comm_duplicate(RankState& self, Comm& parent, Comm** result);

/// Completes `copy`, which make_incomplete_comm() has made; `parent.call` is the caller's.
[[nodiscard]] int duplicate_into(RankState& self, Comm& parent, Comm& copy);

/// The calling member's view of a communicator for a persistent collective on `parent`, whose
/// `call` names it.
[[nodiscard]] int make_shadow(RankState& self, Comm& parent, Comm** result);

/// One communicator per color, ordered by (key, rank in the parent). Null for MPI_UNDEFINED.
[[nodiscard]] int comm_split(RankState& self, Comm& parent, int color, int key, Comm** result);

/// A communicator of `group`, a subset of the parent's; null for ranks outside the group. Members
/// of disjoint groups may call with their own group each, as MPI allows.
[[nodiscard]] int comm_create(RankState& self,
                              Comm& parent,
                              std::shared_ptr<const Group> group,
                              Comm** result);

/// As comm_create(), but called by the members of the group only; `tag` separates concurrent calls.
[[nodiscard]] int comm_create_group(
    RankState& self, Comm& parent, std::shared_ptr<const Group> group, int tag, Comm** result);

}  // namespace sorrel::mpi
