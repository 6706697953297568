//! The tags of the library's internal messages on the user's communicators.
//!
//! Users' tags are not negative, and the wildcards, -1 and -2, do not match these
//! (match/match_table.hpp).
#pragma once

#include <cstdint>
#include <limits>

#include "mpi/base/collective_call.hpp"

namespace sorrel::mpi {

/// The value of MPI_TAG_UB: leaves room for internal tags beside one for each user's tag.
inline constexpr std::int32_t tag_max = std::numeric_limits<std::int32_t>::max() - 64;

/// A total between processes.
inline constexpr std::int32_t total_tag = std::numeric_limits<std::int32_t>::min();

/// Data that a collective moves between processes: one tag for each kind, so that members in
/// different collectives do not take each other's messages.
constexpr std::int32_t collective_tag(CollectiveKind kind) {
  return total_tag + 1 + static_cast<std::int32_t>(kind);
}

/// The neighbourhood collectives, one tag for each kind.
enum class NeighborKind : std::uint8_t { allgather, allgatherv, alltoall, alltoallv, alltoallw };

constexpr std::int32_t neighbor_tag(NeighborKind kind) {
  return total_tag + 40 + static_cast<std::int32_t>(kind);
}

/// Tag between the leaders of the two groups of an intercommunicator, beside collectives.
inline constexpr std::int32_t leader_tag = total_tag + 50;

/// Creating a communicator without a parent: on MPI_COMM_WORLD.
inline constexpr std::int32_t world_creation_tag = total_tag + 51;

/// A total that a process forwards to the others of its node.
inline constexpr std::int32_t forwarded_total_tag = total_tag + 52;

static_assert(collective_tag(static_cast<CollectiveKind>(collective_kind_count)) <=
              neighbor_tag(NeighborKind::allgather));

/// Creating a communicator of a group whose members chose `tag`.
constexpr std::int32_t group_creation_tag(std::int32_t tag) {
  return -3 - tag;
}

static_assert(group_creation_tag(tag_max) > forwarded_total_tag);

}  // namespace sorrel::mpi
