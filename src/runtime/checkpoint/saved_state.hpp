//! The kinds of segments in a job's checkpoint (src/checkpoint/segment_file.hpp), and where a
//! restored rank goes on.
#pragma once

#include <cstdint>

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

}  // namespace sorrel::runtime
