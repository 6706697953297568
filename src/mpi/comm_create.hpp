//! Making communicators - all collective over the parent, all may suspend.
//!
//! In each process one member makes what the new communicators share there and hands it out;
//! everybody makes its own view. A communicator's number (context) comes from the process of the
//! parent's, or group's, first member: no two processes give the same (World::new_contexts), so
//! nothing has to be agreed on, only to be told.
#pragma once

#include <memory>

#include "mpi/comm.hpp"

namespace sorrel::mpi {

/// The parent's group again, under a new context.
[[nodiscard]] int comm_duplicate(RankState& self, Comm& parent, Comm** result);

/// One communicator per color, ordered by (key, rank in the parent). Null for MPI_UNDEFINED.
[[nodiscard]] int comm_split(RankState& self, Comm& parent, int color, int key, Comm** result);

/// A communicator of `group`, a subset of the parent's; null for those who are not in it. Members
/// of disjoint groups may call with their own group each, as MPI allows.
[[nodiscard]] int comm_create(RankState& self,
                              Comm& parent,
                              std::shared_ptr<const Group> group,
                              Comm** result);

/// As comm_create(), but called by the members of the group only; `tag` tells concurrent calls
/// apart.
[[nodiscard]] int comm_create_group(
    RankState& self, Comm& parent, std::shared_ptr<const Group> group, int tag, Comm** result);

}  // namespace sorrel::mpi
