//! Agreement - what the members of a communicator find out together, and the members of this
//! process among themselves, while they create an object or act on it.
//!
//! Collective: every member calls, in the same order, with Comm::call set. May suspend.
#pragma once

#include <vector>

#include "mpi/collectives/collectives.hpp"

namespace sorrel::mpi {

/// The largest of the members' errors in *worst. Fails only if the members' calls differ.
[[nodiscard]] int find_worst(const Member& member, int error, int* worst);

/// The largest of the members' errors, as the result of the call.
[[nodiscard]] int agree(const Member& member, int error);

/// Whether all members pass the same value.
[[nodiscard]] int compare_values(const Member& member, std::int64_t value, bool* is_same);

/// A barrier of the members in this process.
[[nodiscard]] int local_barrier(const Member& member);

/// The members in this process, ascending. Never suspends.
[[nodiscard]] std::vector<std::int32_t> members_here(const Comm& comm);

}  // namespace sorrel::mpi
