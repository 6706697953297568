//! Reductions whose result does not depend on the assignment of chunks to threads.
//!
//! The range is cut into leaves whose number depends on its length alone. Each leaf begins with the
//! neutral element, and the caller combines the leaves in order. Any thread. May suspend. Values
//! are bytes, because the callers are C bindings.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loop/team/loop.hpp"

namespace sorrel::loop {

using ReduceBody = int (*)(void* argument, std::int64_t begin, std::int64_t end, void* partial);
using Combine = void (*)(void* argument, void* into, const void* from);

struct Reduction {
  ReduceBody body;
  Combine combine;
  void* argument;
  /// The neutral element before, the result after.
  void* result;
  std::size_t bytes;
};

/// Returned by reduce() when there is no memory for the leaves.
inline constexpr int no_memory = -3;

/// Leaves of a reduction over many iterations.
inline constexpr std::int64_t leaf_count_max = 64;

/// Returns go_on, the value with which a body cancelled the loop, or no_memory.
int reduce(Iterations iterations, const Reduction& reduction, const LoopOptions& options);

}  // namespace sorrel::loop
