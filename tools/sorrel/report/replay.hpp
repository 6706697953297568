//! Replay - how long a traced job would take under other conditions: a simulation of its workers.
//!
//! Each worker runs its ready ranks one after the other, each until it has to wait, as Sorrel does.
//! split_program() makes the program of a job with more ranks.
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
  ReplayBalance balance = ReplayBalance::off;
  /// The time of the smallest message between processes; larger ones change by as much, collectives
  /// by a multiple: as often as they have crossed the network one after the other.
  std::optional<std::int64_t> latency_ns = std::nullopt;
  /// Which of the times that messages of one kind have taken.
  Latencies::Quantile quantile = Latencies::Quantile::median;
  /// Whether messages take time at all.
  bool has_flight = true;
};

/// The time of the job; nothing if its ranks would wait for ever, because the trace has not all
/// that they wait for.
[[nodiscard]] std::optional<std::int64_t> replay(const ReplayProgram& program,
                                                 const ReplaySetting& setting);

}  // namespace sorrel::tool
