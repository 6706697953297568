//! ProgramMemory - the memory of a rank's program: private globals, heap, thread-locals; and what
//! a process has beside it that no checkpoint has.
#pragma once

#include <string>
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

/// Descriptors of the process that no rank has opened.
class KnownDescriptors {
 public:
  /// Before any rank runs.
  void read();

  /// The first one that has been opened since and is not in `files`, for a user; "" if there is
  /// none.
  [[nodiscard]] std::string find_new(const std::vector<int>& files) const;

 private:
  std::vector<int> known_;
};

/// The number of stdio streams of the process that are neither standard streams nor the ranks'
/// own. While no rank runs.
[[nodiscard]] int open_stream_count(const std::vector<program::RankProcess*>& ranks);

}  // namespace sorrel::runtime
