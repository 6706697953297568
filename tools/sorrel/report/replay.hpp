//! Replay - how long a traced job would take under other conditions: a simulation of its workers.
//!
//! Each worker runs its ready ranks one after the other, each until it has to wait, as Sorrel does.
//! A job with k times as many ranks is k copies of each rank on the worker of the original, each
//! with 1/k of its computing and of the bytes of its messages, with as many calls. What a rank
//! computes longer after others have used the caches (cold_start.hpp) is divided by the fourth root
//! of k, which fits cg2d with 16 to 256 ranks. This is the division of a domain without the
//! larger surface of more parts.
#pragma once

#include <cstdint>
#include <optional>

#include "tools/sorrel/report/replay_program.hpp"

namespace sorrel::tool {

enum class ReplayBalance : std::uint8_t {
  off,
  steal,    ///< a worker without ready ranks runs those of others of its process
  measured  ///< ranks are placed by the time that they compute
};

struct ReplaySetting {
  std::uint32_t rank_factor = 1;
  ReplayBalance balance = ReplayBalance::off;
  /// Of the smallest message between processes; larger ones change by as much.
  std::optional<std::int64_t> latency_ns = std::nullopt;
};

/// The time of the job; nothing if its ranks would wait for ever, because the trace has not all
/// that they wait for.
[[nodiscard]] std::optional<std::int64_t> replay(const ReplayProgram& program,
                                                 const ReplaySetting& setting);

}  // namespace sorrel::tool
