//! SavedRank - a rank's state in MPI, as records with which the rank is made again in another
//! process. One rank at a time; README.md has the order.
//!
//! While no rank runs. The rank's memory is saved and restored by others, at the same addresses.
#pragma once

#include <string>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/saved/shared_parts.hpp"

namespace sorrel::mpi {

/// Its messages and levels of threads. There is no reason_not_saved().
void save_messages(const RankState& rank, ByteWriter& to);

/// In a rank that has not run, on its worker. False: the record is damaged, or there is no memory
/// for its messages.
[[nodiscard]] bool restore_messages(RankState& rank, ByteCursor& from);

/// What its handles stand for.
void save_objects(RankState& rank, ByteWriter& to);

/// When its memory is restored, and all ranks of the process are made. Returns an error, or "".
[[nodiscard]] std::string restore_objects(RankState& rank, SharedParts& parts, ByteCursor& from);

}  // namespace sorrel::mpi
