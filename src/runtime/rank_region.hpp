//! RankRegion - where the memory of ranks lies: for each kind a band of addresses, in which a
//! rank's part follows from its number in MPI_COMM_WORLD. So it is the same in every process of the
//! job.
//!
//! Pure. What cannot be placed there lies where the kernel puts it.
#pragma once

#include "os/address_band.hpp"
#include "runtime/config.hpp"

namespace sorrel::runtime {

struct RankRegion {
  os::AddressBand stacks;
  os::AddressBand thread_blocks;
  /// Private globals.
  os::AddressBand images;
  os::AddressBand heaps;
};

/// No bands in a build with sanitizers, which keep such addresses for themselves, and in process
/// mode.
[[nodiscard]] RankRegion rank_region(const Config& config);

/// Which kinds of memory lie in their bands.
struct RegionUse {
  bool stacks;
  bool thread_blocks;
  bool images;
  bool heaps;
};

/// Prints a note if a kind does not: ranks then have addresses that differ between processes.
void print_region_note(const RegionUse& is_in_band);

}  // namespace sorrel::runtime
