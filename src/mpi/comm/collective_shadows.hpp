//! CollectiveShadows - the shadows of a communicator in one process: communicators of the same
//! group for its nonblocking collectives (collectives/README.md, "Nonblocking"), and one for its
//! partitioned messages. Made at the first of either.
//!
//! Any thread that holds a reference to the communicator.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/cache_line.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/comm/world.hpp"

namespace sorrel::mpi {

struct CollectiveShadows {
  /// Nonblocking collectives in progress at once; a further one waits for the oldest.
  static constexpr std::uint32_t shadow_count = 4;
  /// The shadow for partitioned messages (partitioned/README.md).
  static constexpr std::uint32_t partitioned_index = shadow_count;
  static_assert(partitioned_index + 1 < 1U << (32 - context_bits));

  explicit CollectiveShadows(std::int32_t member_count)
      : count_stride_(member_count <= padded_members_max ? cache_line_bytes / sizeof(StartedCount)
                                                         : 1),
        started_counts_(std::make_unique<StartedCount[]>(static_cast<std::size_t>(member_count) *
                                                         count_stride_)) {}

  /// How many a member of this process has started. Relaxed: for reports.
  [[nodiscard]] std::atomic<std::uint32_t>& started_count(std::int32_t rank) const {
    return started_counts_[static_cast<std::size_t>(rank) * count_stride_];
  }

  // (S) release by the member that makes it, acquire by the other members.
  std::array<std::atomic<CommShared*>, partitioned_index + 1> shadows{};

 private:
  using StartedCount = std::atomic<std::uint32_t>;
  /// With few members, those of different workers do not share a cache line.
  static constexpr std::int32_t padded_members_max = 64;

  std::size_t count_stride_;
  std::unique_ptr<StartedCount[]> started_counts_;
};

}  // namespace sorrel::mpi
