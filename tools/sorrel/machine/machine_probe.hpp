//! MachineProbe - 50 ms of measurements for `--procs auto`: how fast a core sees another core's
//! write, how long a sleeping thread takes to wake, how fast memory is copied.
//!
//! The result is kept in the user's cache folder for this machine: processor, kernel, cpus that
//! this process may use, and version of this command. If any of these differs, it is measured
//! again. A result is not kept if other work took too much of the cpus meanwhile.
//! Uses two threads on two of the allowed cpus. With one cpu both share it, and the figures show
//! it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sorrel::tool {

struct MachineProbe {
  double handover_ns = 0;        ///< a cache line, from one core to another
  double wake_ns = 0;            ///< a futex, from the waker's call to the sleeper's return
  double copy_bytes_per_ns = 0;  ///< copy_bytes() of 64 KiB
  double other_work = 0;         ///< share of the cpus that other processes took meanwhile
  std::string date;              ///< in UTC; "" if it is not known

  /// Whether the result may be kept: other processes took little of the cpus.
  [[nodiscard]] bool is_of_a_quiet_machine() const;
};

[[nodiscard]] MachineProbe measure_machine();

/// The kept result, or a new one, which is kept if possible.
[[nodiscard]] MachineProbe probe_machine();

/// The text of a result for the machine that `key` describes, and its inverse. Reading returns
/// nothing if the result is another machine's, is damaged, or was measured on a busy machine.
[[nodiscard]] std::string write_probe(const MachineProbe& probe, std::string_view key);
[[nodiscard]] std::optional<MachineProbe> read_probe(const std::string& text, std::string_view key);

}  // namespace sorrel::tool
