//! ProgramMemory - the memory of a rank's program: private globals, heap, thread-locals; and what
//! a process has beside it that no checkpoint has.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "core/fiber.hpp"
#include "os/touched_pages.hpp"
#include "program/image/image_slab.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::runtime {

/// What of a rank's private globals, and of its heap, can be written.
[[nodiscard]] std::vector<os::MemoryRange> memory_of(const program::PrivatizedImage& copy,
                                                     std::uint64_t index);

/// The thread-local variables of the program and its private libraries, in the rank's thread
/// control block.
[[nodiscard]] std::vector<os::MemoryRange> thread_locals_of(const program::PrivatizedImage& copy,
                                                            const core::Fiber& fiber);

/// Streams of stdio that are neither standard streams nor made by this library.
struct OpenStreams {
  /// Each with the index of the rank in whose heap it lies; by index.
  std::vector<std::pair<std::uint64_t, FILE*>> of_ranks;
  /// The number of those that lie in no rank's heap.
  int other_count = 0;
};

/// While no rank runs.
[[nodiscard]] OpenStreams find_open_streams(const std::vector<program::RankProcess*>& ranks);

}  // namespace sorrel::runtime
