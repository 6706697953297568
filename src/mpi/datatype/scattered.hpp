//! Whether the data of a type is scattered: short runs of bytes, most of them in cache lines of
//! their own, so that moving the data to another core moves several times its bytes.
#pragma once

#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

/// True if the runs have at most half a cache line on average and at most a quarter of the bytes
/// between the first and the last is data. Estimated from one path down the layout: O(its depth).
/// Pure, any thread.
[[nodiscard]] bool is_scattered(const Datatype& type);

}  // namespace sorrel::mpi
