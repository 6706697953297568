//! SavedState - what a checkpoint has of a rank beside its memory, as records; and the kinds of
//! segments in its file (src/checkpoint/segment_file.hpp).
#pragma once

#include <cstdint>
#include <string>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::runtime {

enum class SegmentKind : std::uint32_t {
  layout = 1,   ///< layout_text()
  process = 2,  ///< one for each process: contexts of communicators
  rank = 3,     ///< one for each rank, before its memory
  memory = 4,
};

/// Where a restored rank goes on.
struct ResumePoint {
  std::uintptr_t context = 0;
  /// Of the int that its call returns.
  std::uintptr_t outcome = 0;
  std::uintptr_t thread_pointer = 0;
  /// Bytes of the heap beyond its first parts that are usable.
  std::uint64_t far_heap_bytes = 0;
};

/// Why the rank's state in MPI cannot be saved now, for a user; null: it can. While no rank runs.
[[nodiscard]] const char* reason_not_saved(mpi::RankState& rank);

/// Of the rank's state in MPI. While no rank runs.
void save_state(const mpi::RankState& rank, ByteWriter& to);

/// In a rank that has not run, on its worker. False: the record is damaged, or there is no memory
/// for its messages.
[[nodiscard]] bool restore_state(mpi::RankState& rank, ByteCursor& from);

}  // namespace sorrel::runtime
