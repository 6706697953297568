//! The C interface of loops (include/sorrel.h) in terms of this module.
//!
//! Two libraries export it: `libmpi_abi` for ranks, `libsorrel` for plain programs
//! (src/standalone/loop_calls.cpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "loop/team/loop.hpp"
#include "loop/team/reduce.hpp"
#include "sorrel.h"

namespace sorrel::loop::binding {

static_assert(SORREL_NOT_SHARED == not_shared && SORREL_NO_MEMORY == no_memory);

/// What a caller with the first version of the options has given.
inline constexpr std::size_t options_bytes_min = 32;
static_assert(sizeof(sorrel_loop_options) == options_bytes_min &&
              alignof(sorrel_loop_options) == 8);

/// Whether all fields behind those that this library knows are 0.
inline bool has_known_size(const sorrel_loop_options& given) {
  if (given.size == 0) return true;
  if (given.size < options_bytes_min) return false;
  const auto* bytes = reinterpret_cast<const char*>(&given);
  return std::all_of(bytes + sizeof given, bytes + given.size, [](char byte) { return byte == 0; });
}

/// The options, or nothing if one of them is not known.
inline std::optional<LoopOptions> options_of(const sorrel_loop_options* given) {
  LoopOptions options;
  if (given == nullptr) return options;
  if (!has_known_size(*given) || (given->flags & ~SORREL_SHARED_ONLY) != 0) return std::nullopt;
  options.is_shared_only = (given->flags & SORREL_SHARED_ONLY) != 0;
  switch (given->schedule) {
    case SORREL_AUTOMATIC:
      break;
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
      return std::nullopt;
  }
  options.grain = std::max<std::int64_t>(given->grain, 0);
  options.threads_max = static_cast<std::uint32_t>(std::max(given->threads_max, 0));
  return options;
}

inline int parallel_for(std::int64_t begin,
                        std::int64_t end,
                        sorrel_loop_body body,
                        void* argument,
                        const sorrel_loop_options* given) {
  const std::optional<LoopOptions> options = options_of(given);
  return options ? run({begin, end}, body, argument, *options) : SORREL_UNKNOWN_OPTION;
}

inline int parallel_reduce(std::int64_t begin,
                           std::int64_t end,
                           sorrel_reduce_body body,
                           sorrel_reduce_combine combine,
                           void* argument,
                           void* result,
                           std::size_t bytes,
                           const sorrel_loop_options* given) {
  const std::optional<LoopOptions> options = options_of(given);
  return options ? reduce({begin, end}, {body, combine, argument, result, bytes}, *options)
                 : SORREL_UNKNOWN_OPTION;
}

inline int threads() {
  return static_cast<int>(width_now());
}

inline int limit_threads(int count) {
  return static_cast<int>(loop::limit_threads(static_cast<std::uint32_t>(count < 0 ? 1 : count)));
}

inline int freeze_threads() {
  return static_cast<int>(freeze_width(std::nullopt));
}

inline void set_threads(int count) {
  freeze_width(static_cast<std::uint32_t>(std::max(count, 1)));
}

}  // namespace sorrel::loop::binding
