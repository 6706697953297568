//! Hints of an object: those that the library knows. Others are ignored, and not returned (MPI 5.0,
//! 7.4.4, 12.2.7, 14.2.8).
#pragma once

#include <span>
#include <string_view>

#include "mpi/comm/info.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::abi {

/// Adds the hints of `info`, which may be MPI_INFO_NULL, with a key of the list `known`, to those
/// of an object. An assertion about kinds of memory of which one is not supported is ignored.
/// MPI_ERR_INFO.
[[nodiscard]] int take_known_hints(mpi::RankState& self,
                                   MPI_Info info,
                                   std::span<const std::string_view> known,
                                   mpi::Info* hints);

/// As take_known_hints(), of a list.
[[nodiscard]] int copy_known_hints(mpi::RankState& self,
                                   const mpi::Info& given,
                                   std::span<const std::string_view> known,
                                   mpi::Info* hints);

/// Adds which kinds of memory buffers may be in, for the info object of a session, communicator,
/// window or file.
[[nodiscard]] int describe_memory_kinds(mpi::RankState& self, mpi::Info& info);

}  // namespace sorrel::abi
