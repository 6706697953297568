//! The environment of the calling rank: getenv, setenv and related functions.
//!
//! Where the C library itself reads the environment for a rank (TZ, and what a child inherits),
//! ScopedEnvironment installs the rank's. The process's own environment follows every change, for
//! threads that belong to no rank: they see the last one.
#pragma once

#include <mutex>

#include "program/state/environment.hpp"

namespace sorrel::program {

/// While it exists, the C library uses the calling rank's environment. For calls that do not
/// suspend. Does nothing outside of ranks.
class ScopedEnvironment {
 public:
  ScopedEnvironment();
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;
  ~ScopedEnvironment();

 private:
  std::unique_lock<std::mutex> lock_;
  char** saved_ = nullptr;
};

/// The calling rank's environment; nullptr outside of ranks, or if the rank uses the process's.
[[nodiscard]] Environment* environment_of_rank();

}  // namespace sorrel::program
