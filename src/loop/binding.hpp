//! The C interface of loops (include/sorrel.h) in terms of this module.
//!
//! Two libraries export it: `libmpi_abi` for ranks, `libsorrel` for plain programs (src/abi,
//! src/standalone).
#pragma once

#include <algorithm>
#include <optional>

#include "loop/team/loop.hpp"
#include "loop/team/reduce.hpp"
#include "sorrel.h"

namespace sorrel::loop::binding {

static_assert(SORREL_NOT_SHARED == not_shared);

inline LoopOptions options_of(const sorrel_loop_options* given) {
  LoopOptions options;
  if (given == nullptr) return options;
  options.is_shared_only = (given->schedule & SORREL_SHARED) != 0;
  switch (given->schedule & ~SORREL_SHARED) {
    case SORREL_STATIC:
      options.schedule = Schedule::fixed;
      break;
    case SORREL_DYNAMIC:
      options.schedule = Schedule::dynamic;
      break;
    case SORREL_GUIDED:
      options.schedule = Schedule::guided;
      break;
    default:
      break;
  }
  options.grain = std::max<std::int64_t>(given->grain, 0);
  options.threads_max = static_cast<std::uint32_t>(std::max(given->threads_max, 0));
  return options;
}

inline int parallel_for(std::int64_t begin,
                        std::int64_t end,
                        sorrel_loop_body body,
                        void* argument,
                        const sorrel_loop_options* options) {
  return run({begin, end}, body, argument, options_of(options));
}

inline int parallel_reduce(Iterations iterations,
                           const Reduction& reduction,
                           const sorrel_loop_options* options) {
  return reduce(iterations, reduction, options_of(options));
}

inline int threads() {
  return static_cast<int>(width_now());
}

inline int freeze_threads() {
  return static_cast<int>(freeze_width(std::nullopt));
}

inline void set_threads(int count) {
  freeze_width(static_cast<std::uint32_t>(std::max(count, 1)));
}

}  // namespace sorrel::loop::binding
