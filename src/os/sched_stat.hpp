//! SchedStat - the time that a thread of this process has run, and the time that it has waited for
//! a core: exact, from the kernel's own accounting, 0.7 us a reading.
//!
//! One owner. Some kernels lack it (CONFIG_SCHED_INFO); a thread that has ended reads as nothing.
#pragma once

#include <cstdint>
#include <optional>

namespace sorrel::os {

/// About the shortest time slice of the kernel; interrupts take less.
inline constexpr std::int64_t slice_ns_min = 1'000'000;

struct RunTimes {
  std::int64_t run_ns = 0;
  std::int64_t delay_ns = 0;
  /// Number of times that it got a core.
  std::int64_t slice_count = 0;
};

/// The calling thread's number, for SchedStat.
[[nodiscard]] int thread_number();

class SchedStat {
 public:
  /// `thread`: of this process.
  explicit SchedStat(int thread);
  SchedStat(SchedStat&& other) noexcept;
  SchedStat(const SchedStat&) = delete;
  SchedStat& operator=(const SchedStat&) = delete;
  ~SchedStat();

  [[nodiscard]] std::optional<RunTimes> read() const;

 private:
  int file_;
};

}  // namespace sorrel::os
