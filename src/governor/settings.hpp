//! Settings - the options for loops, from environment variables.
//!
//! The variables are those of IRIX's dynamic threads (MP_*), of OpenMP (OMP_*), and SORREL_SHARE;
//! docs/loops.md has the table for users. Pure: reads through a lookup function, and returns
//! diagnostics instead of printing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/poll_limit.hpp"
#include "governor/governor.hpp"

namespace sorrel::governor {

/// Spin time that never blocks: the meaning of MP_BLOCKTIME=0 and OMP_WAIT_POLICY=active.
inline constexpr std::int64_t spin_for_ever_ns = std::int64_t{1} << 62;
/// Spin time without a setting after a long wait, while no thread waits for the cores of the
/// process.
inline constexpr std::int64_t default_spin_ns = core::brief_poll_ns;

struct Settings {
  GovernorLimits limits;
  /// Loops use at most so many of the threads that the governor grants.
  std::uint32_t loop_width_max = std::numeric_limits<std::uint32_t>::max();
  /// How long to spin while the governor allows it.
  std::int64_t spin_ns = default_spin_ns;
  /// Spins (or not) whatever the governor decides.
  bool is_spin_fixed = false;
  /// Stacks on which workers help the loops of ranks; 0: os::default_stack_bytes().
  std::size_t stack_bytes = 0;
  bool is_verbose = false;
  /// Another process of the job reports defects of the machine.
  bool is_quiet = false;
  /// One line for each invalid setting: what is allowed, and what is used instead.
  std::vector<std::string> diagnostics;
};

/// Looks up an environment variable; null if it is not set.
using Lookup = std::function<const char*(const char* name)>;

/// `cpus`: the number of threads without a setting.
Settings read_settings(const Lookup& lookup, std::uint32_t cpus, std::uint32_t width_max);

}  // namespace sorrel::governor
