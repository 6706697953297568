//! write_all - writes a text to a file descriptor as a whole.
#pragma once

#include <string_view>

namespace sorrel::os {

inline constexpr int any_patience = -1;

/// Waits while the reader of a pipe or terminal is slow, also if the descriptor does not block:
/// each time for at most `patience_ms`, then returns ETIMEDOUT. Returns 0, or the errno of the
/// failed write; what was written before stays written.
int write_all(int descriptor, std::string_view text, int patience_ms = any_patience);

}  // namespace sorrel::os
