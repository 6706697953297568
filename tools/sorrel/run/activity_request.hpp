//! ActivityRequest - SIGUSR1 to `sorrel run`: requests from the job's processes what their ranks do
//! and collects the answers.
//!
//! The signal is passed on, because a program may have a handler of it, but not to a process that
//! it would end: one that has not started yet, or a wrapper without a handler. A process of one
//! rank that sleeps in a system call which the signal would end, as nanosleep(), does not get it
//! either: its answer is that call. The other answers come through the job's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sys/types.h>
#include <vector>

#include "core/job_memory.hpp"
#include "report/wait_table.hpp"
#include "tools/sorrel/run/launch.hpp"

namespace sorrel::tool {

/// A process of the job.
struct Recipient {
  pid_t pid = 0;  ///< 0: none
  /// It has not started the program. Shells block all signals while they start one.
  bool is_wrapper = false;
};

class ActivityRequest {
 public:
  explicit ActivityRequest(const LaunchPlan& plan) : plan_(plan) {}

  /// `recipients`: by the number of the process. While a request is open, only passes the signal
  /// on.
  void request(core::JobMemory& memory, const std::vector<Recipient>& recipients);

  [[nodiscard]] bool is_requested() const { return number_ != 0; }

  /// While requested: when all processes have answered, or after a second, ends the request and
  /// returns the table. Nothing if the time is not over, or if the program has a handler and no
  /// process answers.
  [[nodiscard]] std::optional<report::WaitTable> take_table(core::JobMemory& memory);

 private:
  const LaunchPlan& plan_;
  /// 0: none.
  std::uint32_t number_ = 0;
  void open(core::JobMemory& memory);
  [[nodiscard]] bool is_left_asleep(std::uint32_t process, pid_t pid);

  /// The processes that were left asleep.
  report::WaitTable asleep_;
  /// The number of processes to which it was sent.
  std::size_t awaited_count_ = 0;
  std::int64_t give_up_ns_ = 0;
};

}  // namespace sorrel::tool
