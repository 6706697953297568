//! ThreadSettings - what a rank has changed of the state that the system and the C library keep for
//! a thread: working directory, file mode mask, locale. A worker sets it on its thread at a switch
//! to the rank (core::Fiber::settings).
//!
//! Ranks with equal settings share one object, so that a switch between them compares two addresses
//! and is done. Any thread.
#pragma once

#include <clocale>
#include <memory>

#include "program/state/working_directory.hpp"

namespace sorrel::program {

struct ThreadSettings {
  /// Null: that of the process before any rank ran.
  std::shared_ptr<const WorkingDirectory> directory;
  /// Negative: that of the process before any rank ran.
  int mask = -1;
  /// Null: the initial one. Always null for a rank with a thread control block of its own, which
  /// holds the locale.
  locale_t locale = nullptr;

  bool operator==(const ThreadSettings&) const = default;
};

/// The shared object that equals `settings`; null if nothing is changed.
[[nodiscard]] std::shared_ptr<const ThreadSettings> shared_settings(const ThreadSettings& settings);

}  // namespace sorrel::program
