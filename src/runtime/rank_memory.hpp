//! Rank memory - gives the ranks of this process heaps of their own (program/heap), and reports
//! their sizes, and damage to one.
#pragma once

#include <cstddef>
#include <optional>

#include "program/image/image_slab.hpp"
#include "report/wait_table.hpp"
#include "runtime/base/job_view.hpp"
#include "runtime/config.hpp"

namespace sorrel::runtime {

/// Freed memory that each of `rank_count` ranks may keep, where the processes of the machine have
/// `machine_bytes`: together a quarter.
[[nodiscard]] constexpr std::size_t kept_bytes_of_rank(std::size_t machine_bytes, int rank_count) {
  constexpr std::size_t part = 4;
  return machine_bytes / part / static_cast<std::size_t>(rank_count);
}

/// As kept_bytes_of_rank(), of memory that no block uses in large pages with blocks of each rank:
/// together a sixteenth.
[[nodiscard]] constexpr std::size_t unused_bytes_of_rank(std::size_t machine_bytes,
                                                         int rank_count) {
  constexpr std::size_t part = 16;
  return machine_bytes / part / static_cast<std::size_t>(rank_count);
}

/// As kept_bytes_of_rank(), of static memory of which a rank may use parts only: together a half.
[[nodiscard]] constexpr std::size_t static_bytes_of_rank(std::size_t machine_bytes,
                                                         int rank_count) {
  constexpr std::size_t part = 2;
  return machine_bytes / part / static_cast<std::size_t>(rank_count);
}

/// After watch_for_crashes(), before the first image is made and any rank runs. Static memory of
/// ranks is in large pages if there is enough memory.
void begin_rank_heaps(const Config& config, program::ImageSlab& slab, const JobView& job);

/// RankBody::memory_of().
[[nodiscard]] std::optional<report::RankMemory> heap_of_rank(std::size_t index);

/// On standard error: the heaps of the ranks of this process, or why they have none.
void print_memory();

}  // namespace sorrel::runtime
