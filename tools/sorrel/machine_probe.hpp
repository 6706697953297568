//! MachineProbe - 50 ms of measuring what `--procs auto` decides by: how fast a core sees what
//! another has written, how long a sleeping thread takes to wake, how fast memory is copied.
//!
//! The result is kept in the user's cache folder for this machine: processor, kernel, cpus this
//! process may use, and version of this command, any of which being another makes it measured anew.
//! A result is not kept where other work took too much of the cpus meanwhile.
//! Uses two threads on two of the allowed cpus; with one cpu both share it, and the figures say so.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sorrel::tool {

struct MachineProbe {
  double handover_ns = 0;        ///< a cache line, from one core to another
  double wake_ns = 0;            ///< a futex, from the waker's call to the sleeper's return
  double copy_bytes_per_ns = 0;  ///< memcpy of 64 KiB
  double other_work = 0;         ///< share of the cpus that other processes took meanwhile
  std::string date;              ///< in UTC; "" where it is not known

  /// Whether it may be kept: by then others had little.
  [[nodiscard]] bool is_of_a_quiet_machine() const;
};

[[nodiscard]] MachineProbe measure_machine();

/// The kept result, or a new one, which is then kept if that is possible.
[[nodiscard]] MachineProbe probe_machine();

/// How a result is written to a file for the machine that `key` describes, and read again; nothing
/// if it is another machine's, is damaged, or was measured while others had the cores.
[[nodiscard]] std::string write_probe(const MachineProbe& probe, std::string_view key);
[[nodiscard]] std::optional<MachineProbe> read_probe(const std::string& text, std::string_view key);

}  // namespace sorrel::tool
