//! ThreadUse as JSON: of profiles and of reports.
#pragma once

#include "tools/sorrel/common/json.hpp"
#include "tools/sorrel/trace/thread_use.hpp"

namespace sorrel::tool {

[[nodiscard]] inline Json json_of(const ThreadUse& use) {
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  Json json = {{"granted_seconds", seconds(use.granted_ns)},
               {"without_thread_seconds", seconds(use.away_ns)},
               {"were_taken", use.are_taken()}};
  if (use.is_accounted) {
    json["core_seconds"] = seconds(use.core_ns);
    json["core_wait_seconds"] = seconds(use.core_wait_ns);
  }
  return json;
}

}  // namespace sorrel::tool
