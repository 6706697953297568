//! TraceClock - the times of several workers, processes and machines on one axis.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/sorrel/trace/trace_part.hpp"

namespace sorrel::tool {

class TraceClock {
 public:
  /// `parts` are not empty.
  explicit TraceClock(const std::vector<TracePart>& parts);

  /// Nanoseconds since the first part began. Not negative.
  [[nodiscard]] std::int64_t ns_of(const TracePart& part, const trace::Record& record) const;

 private:
  /// The clock of one machine: its first and its last reading, by the cycle counter.
  struct Machine {
    TracedClock first;
    double ns_per_cycle = 0;
  };

  [[nodiscard]] std::int64_t wall_ns(const Machine& machine, std::uint64_t cycles) const;

  std::map<std::string, Machine, std::less<>> machines_;
  std::int64_t begin_ns_ = 0;
};

}  // namespace sorrel::tool
