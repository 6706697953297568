//! TeamState - the place of a thread in its team, and its position among the team's constructs.
//!
//! Saved as a whole when the thread becomes master of an inner team, and restored at the end of
//! that team's region. Own thread only.
#pragma once

#include <cstdint>

#include "base/cache_line.hpp"
#include "omp/icv/icv.hpp"

namespace sorrel::omp {

struct MemberState;
struct Task;
struct Team;
class WorkShare;

// The program reads the first line most often: other threads write none of it.
struct alignas(cache_line_bytes) TeamState {
  Team* team = nullptr;
  std::uint32_t number = 0;
  Icv icv;

  WorkShare* share = nullptr;
  std::uint64_t share_count = 0;
  std::uint64_t single_count = 0;
  std::uint64_t chunk_index = 0;  ///< of a static loop: chunks taken
  std::uint64_t chunk_begin = 0;  ///< of an ordered loop: iterations it holds
  std::uint64_t chunk_end = 0;
  bool holds_chunk = false;

  std::uintptr_t allocator = 1;  ///< def-allocator-var
  // For programs of LLVM's library: the loop around the current one whose iterations wait for each
  // other, and its extents.
  WorkShare* doacross_share = nullptr;
  const void* doacross_dimensions = nullptr;
  Task* task = nullptr;                 ///< the one that it executes
  MemberState* member_state = nullptr;  ///< in its team
};

}  // namespace sorrel::omp
