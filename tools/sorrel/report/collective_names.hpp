//! The functions of MPI in which all members of a communicator take part, by their names.
#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel::tool {

enum class CollectiveKind : std::uint8_t {
  none,
  all,         ///< each member needs all others
  from_root,   ///< members need the root
  to_root,     ///< the root needs the members
  nonblocking  ///< the call itself does not wait
};

/// `function`: "MPI_Bcast". Neighborhood collectives are none: a member needs some others only.
[[nodiscard]] CollectiveKind collective_kind(std::string_view function);

}  // namespace sorrel::tool
