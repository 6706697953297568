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

  /// The times of one part.
  class Axis {
   public:
    /// Nanoseconds since the first part began. Not negative.
    [[nodiscard]] std::int64_t ns_of(const trace::Record& record) const;

   private:
    friend TraceClock;

    [[nodiscard]] std::int64_t wall_ns(std::uint64_t cycles) const;

    /// The first reading of the clocks of the machine.
    TracedClock first_{};
    double ns_per_cycle_ = 0;
    std::int64_t begin_ns_ = 0;
  };

  /// `part` is one of those.
  [[nodiscard]] const Axis& of(const TracePart& part) const;

 private:
  std::map<std::string, Axis, std::less<>> machines_;
};

}  // namespace sorrel::tool
