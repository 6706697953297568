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

/// A running total between processes.
inline constexpr std::int32_t total_tag = std::numeric_limits<std::int32_t>::min();

/// Data that a collective moves between processes: one tag for each kind, so that members in
/// different collectives do not take each other's messages.
constexpr std::int32_t collective_tag(CollectiveKind kind) {
  return total_tag + 1 + static_cast<std::int32_t>(kind);
}

/// Creating a communicator of a group whose members chose `tag`.
constexpr std::int32_t group_creation_tag(std::int32_t tag) {
  return -3 - tag;
}

static_assert(group_creation_tag(tag_max) > total_tag + 1 + collective_kind_count);

}  // namespace sorrel::mpi
