//! The calls of a program that led to a call of this library, as text.
#pragma once

#include "symbols/backtrace.hpp"

namespace sorrel::runtime {

/// The calls that led to a call of this library, without it: those in Python, if the thread runs
/// any. Not in a signal handler.
[[nodiscard]] symbols::Backtrace::Texts calls_of_program(
    symbols::Backtrace backtrace = symbols::Backtrace());

}  // namespace sorrel::runtime
