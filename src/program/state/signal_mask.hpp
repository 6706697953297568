//! SignalMask - a set of signals as a number: bit n - 1 stands for signal n. Pure.
#pragma once

#include <csignal>
#include <cstdint>

namespace sorrel::program {

using SignalMask = std::uint64_t;

[[nodiscard]] constexpr SignalMask mask_of(int number) {
  return SignalMask{1} << (number - 1);
}

/// Signals that an instruction causes.
inline constexpr SignalMask faults =
    mask_of(SIGSEGV) | mask_of(SIGBUS) | mask_of(SIGFPE) | mask_of(SIGILL) | mask_of(SIGTRAP);

/// Signals that do nothing by default.
inline constexpr SignalMask harmless =
    mask_of(SIGCHLD) | mask_of(SIGURG) | mask_of(SIGWINCH) | mask_of(SIGCONT);

/// The lowest signal of a mask that has one.
[[nodiscard]] constexpr int first_signal_of(SignalMask mask) {
  return __builtin_ctzll(mask) + 1;
}

[[nodiscard]] inline SignalMask mask_of(const sigset_t& set) {
  SignalMask mask = 0;
  for (int number = 1; number <= 64; ++number) {
    if (sigismember(&set, number) == 1) mask |= mask_of(number);
  }
  return mask;
}

[[nodiscard]] inline sigset_t set_of(SignalMask mask) {
  sigset_t set;
  sigemptyset(&set);
  for (; mask != 0; mask &= mask - 1)
    sigaddset(&set, first_signal_of(mask));
  return set;
}

}  // namespace sorrel::program
