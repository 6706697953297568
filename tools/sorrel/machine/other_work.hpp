//! OtherWork - the share of the allowed cpus that other processes take during a measurement.
//!
//! Computed from /proc/stat and the times of this process and of the children that have been
//! reaped; children that still run count as other work. Time stolen by a virtual machine's host
//! counts too, if the system reports it. Correct to a few ticks of the kernel's clock, 10 ms each,
//! for each cpu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sorrel::tool {

class OtherWork {
 public:
  /// The measurement begins.
  OtherWork();

  /// The share since then, at least 0; 0 if the system does not report it.
  [[nodiscard]] double share() const;

 private:
  std::vector<int> cpus_;
  std::int64_t began_ns_;
  double busy_s_;
  double own_s_;
};

/// Processor time of `cpus` in seconds, from the text of /proc/stat with that number of ticks a
/// second.
[[nodiscard]] double busy_seconds(const std::string& stat,
                                  const std::vector<int>& cpus,
                                  double ticks_per_second);

/// Now in UTC, in the format of results: 2026-11-22 13:05 UTC.
[[nodiscard]] std::string date_now();

}  // namespace sorrel::tool
