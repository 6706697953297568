//! The kinds of segments in a job's checkpoint (src/checkpoint/segment_file.hpp).
#pragma once

#include <cstdint>

namespace sorrel::runtime {

enum class SegmentKind : std::uint32_t {
  layout = 1,   ///< layout_text()
  process = 2,  ///< one for each process: contexts of communicators
  rank = 3,     ///< one for each rank, before its memory: record_of()
  memory = 4,
  files = 5,  ///< one for each process: files that its ranks write (checkpoint/written_files.hpp)
};

}  // namespace sorrel::runtime
