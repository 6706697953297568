//! SavedComm - a rank's view of a communicator as a record. What the members share is made again by
//! the first of them (shared_parts.hpp).
#pragma once

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/saved/shared_parts.hpp"

namespace sorrel::mpi {

/// Whether the library has made the view for nonblocking collectives; it makes another one when it
/// needs it.
[[nodiscard]] bool is_shadow_view(const Comm& comm);

/// What is set in a communicator, also in MPI_COMM_WORLD and MPI_COMM_SELF: name, hints,
/// attributes, error handler.
void save_settings(const Comm& comm, ByteWriter& to);
void restore_settings(RankState& rank, Comm& comm, ByteCursor& from);

/// Saves a communicator that the program has made.
void save_comm(const Comm& comm, ByteWriter& to);

/// In a new view. False: the record is damaged.
[[nodiscard]] bool restore_comm(RankState& rank, Comm& comm, SharedParts& parts, ByteCursor& from);

}  // namespace sorrel::mpi
