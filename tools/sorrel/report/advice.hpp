//! Advice - what would make a job faster, with the evidence: from the sums over its trace, and from
//! replays of it under other conditions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/sorrel/report/analysis.hpp"
#include "tools/sorrel/report/replay.hpp"

namespace sorrel::tool {

/// A replay of the job under other conditions.
struct Prediction {
  std::string what;
  std::uint32_t rank_factor = 1;
  ReplayBalance balance = ReplayBalance::off;
  std::int64_t ns = 0;
  /// With the quartiles of the times that messages have taken, not their median.
  Interval range{};
};

struct Advice {
  std::string text;
  std::string evidence;
};

struct Outlook {
  /// The time of a replay under the conditions of the trace; 0: it cannot be replayed.
  std::int64_t replayed_ns = 0;
  /// Why there is no prediction, or not one of these; one sentence each.
  std::vector<std::string> not_predicted;
  std::vector<Prediction> predictions;
  std::vector<Advice> advice;
};

/// What the user asks for beside the usual predictions.
struct OutlookRequest {
  std::optional<std::int64_t> latency_ns = std::nullopt;
  std::optional<std::uint32_t> rank_factor;
};

/// Where threads were taken from the job, there is neither advice nor prediction.
[[nodiscard]] Outlook find_outlook(const JobTrace& job,
                                   const WaitCauses& causes,
                                   const Analysis& analysis,
                                   const OutlookRequest& request);

}  // namespace sorrel::tool
