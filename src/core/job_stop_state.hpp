//! JobStopState - the part of a job's stops that all of its processes share (core/job_stop.hpp).
//!
//! In shared memory; all zero is the initial state.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cache_line.hpp"
#include "core/exchange.hpp"
#include "core/stop_point.hpp"

namespace sorrel::core {

struct JobStopState {
  /// The processes meet here.
  StopPoint point;
  Exchange exchange;
  // Acquire and release: one requester at a time, until its stop is over.
  std::atomic<std::uint32_t> is_claimed{0};
  std::atomic<std::uint64_t> ready_count{0};
};

}  // namespace sorrel::core
