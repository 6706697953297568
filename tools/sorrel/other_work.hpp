//! OtherWork - what other processes take of the cpus that this process may use, while something is
//! measured.
//!
//! From /proc/stat and from the time of this process and of the children it has waited for: those
//! that still run count as other work. A virtual machine's host counts too, where it tells. Correct
//! to some ticks of the kernel's clock, 10 ms each, for each cpu.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sorrel::tool {

class OtherWork {
 public:
  /// Begins now.
  OtherWork();

  /// The share since then, from 0 on; 0 where the system does not tell.
  [[nodiscard]] double share() const;

 private:
  std::vector<int> cpus_;
  std::int64_t began_ns_;
  double busy_s_;
  double own_s_;
};

/// Processor time of `cpus` in seconds, from the text of /proc/stat with so many ticks a second.
[[nodiscard]] double busy_seconds(const std::string& stat,
                                  const std::vector<int>& cpus,
                                  double ticks_per_second);

/// Now in UTC, as results are dated: 2026-11-22 13:05 UTC.
[[nodiscard]] std::string date_now();

}  // namespace sorrel::tool
