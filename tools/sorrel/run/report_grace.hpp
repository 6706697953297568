//! ReportGrace - the time that a process gets which ends the job, for its report. It gets more
//! while it uses processor time: on a busy machine a report takes long, and one that hangs uses
//! none.
#pragma once

#include <cstdint>
#include <optional>
#include <sys/types.h>

#include "os/cpu_time.hpp"

namespace sorrel::tool {

class ReportGrace {
 public:
  /// A report of a process that hangs ends by itself within 5 seconds
  /// (runtime/end/report_deadline.hpp).
  static constexpr std::int64_t time_ns = 5'000'000'000;

  /// The report begins.
  void begin(pid_t process) { seen_ns_ = os::cpu_ns_of_process(process).value_or(0); }

  /// When the time is over: whether the process gets it once more.
  [[nodiscard]] bool extend(pid_t process) {
    const std::optional<std::int64_t> now_ns = os::cpu_ns_of_process(process);
    if (!now_ns || extension_count_ == extension_count_max || *now_ns < seen_ns_ + used_ns_min)
      return false;
    ++extension_count_;
    seen_ns_ = *now_ns;
    return true;
  }

 private:
  static constexpr std::int64_t used_ns_min = 1'000'000;
  static constexpr int extension_count_max = 4;

  std::int64_t seen_ns_ = 0;
  int extension_count_ = 0;
};

}  // namespace sorrel::tool
