//! The shared file pointer, in etypes. In one process it is an atomic number of the file; over
//! several processes a number in a window, at the file's first member.
//!
//! All members have the same view, as the standard demands. May suspend, except in one process.
#pragma once

#include "mpi/collectives/collectives.hpp"
#include "mpi/io/file.hpp"

namespace sorrel::mpi {

/// Adds to the pointer; *before is its value before that.
[[nodiscard]] int advance_shared_pointer(File& file, std::int64_t etypes, std::int64_t* before);

[[nodiscard]] int set_shared_pointer(File& file, std::int64_t etypes);

/// Gives each member the part of the shared pointer's range that belongs to its etypes, in the
/// order of the ranks. Collective.
[[nodiscard]] int divide_shared_range(const Member& member,
                                      File& file,
                                      std::int64_t etypes,
                                      std::int64_t* begin);

}  // namespace sorrel::mpi
