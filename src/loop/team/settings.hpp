//! Settings - what the person who starts a program says about its loops, in environment variables.
//!
//! The words are those of IRIX's dynamic threads (MP_*), OpenMP's (OMP_*) and our own
//! (SORREL_SHARE); docs/loops.md is the table for people. Pure: reads through a function that looks
//! up a name, and returns complaints instead of printing them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/governor.hpp"

namespace sorrel::loop {

/// Blocks never: what MP_BLOCKTIME=0 and OMP_WAIT_POLICY=active mean.
inline constexpr std::int64_t spin_for_ever_ns = std::int64_t{1} << 62;
/// Spin time when nothing is said, while nobody waits for our cores.
inline constexpr std::int64_t default_spin_ns = 200'000;

struct Settings {
  core::GovernorLimits limits;
  /// Loops use no more of the threads that the governor allows.
  std::uint32_t loop_width_max = std::numeric_limits<std::uint32_t>::max();
  /// How long to spin while the governor lets us.
  std::int64_t spin_ns = default_spin_ns;
  /// Spins (or not) whatever the governor thinks.
  bool is_spin_fixed = false;
  /// Stacks on which workers help the loops of ranks; 0: os::default_stack_bytes().
  std::size_t stack_bytes = 0;
  bool is_verbose = false;
  /// Another process of the job says what is wrong with the machine.
  bool is_quiet = false;
  /// What was wrong, one line each: what is allowed, and what holds instead.
  std::vector<std::string> complaints;
};

/// The value of an environment variable, or null.
using Lookup = std::function<const char*(const char* name)>;

/// `cpus`: how many threads there may be when nothing is said.
Settings read_settings(const Lookup& lookup, std::uint32_t cpus, std::uint32_t width_max);

}  // namespace sorrel::loop
