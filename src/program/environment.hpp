//! Environment - a rank's environment variables: getenv, setenv and related functions, and the
//! rank's `environ`.
//!
//! Used by the rank alone. Ranks begin with one shared array, the process's environment at start. A
//! rank gets its own array at its first change. Where the C library itself reads the environment
//! for a rank (TZ, and what a child inherits), ScopedEnvironment installs the rank's. The process's
//! own environment follows every change, for threads that belong to no rank: they see the last one.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "program/image_slab.hpp"

namespace sorrel::program {

/// The value of `name` in an array like environ, or nullptr.
[[nodiscard]] char* find_variable(char** values, std::string_view name);

class Environment {
 public:
  explicit Environment(const PrivatizedImage& copy);
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment();

  /// The rank's environ; may be null.
  [[nodiscard]] char** values() const { return values_; }

  void set(std::string_view name, std::string_view value);
  void unset(std::string_view name);
  /// Makes `text`, "NAME=value", itself a part of the environment.
  void put(char* text);
  void clear();

  /// Whether some rank of the process has an environment of its own.
  [[nodiscard]] static bool is_any_changed();

 private:
  struct Own;

  /// The rank's own array, equal to what its environ is.
  [[nodiscard]] Own& own();
  void replace(std::string_view name, char* text);

  char** fallback_ = nullptr;  // environ of a program that names none
  char**& values_;
  std::unique_ptr<Own> own_;
};

/// While it exists, the C library uses the calling rank's environment. For calls that do not
/// suspend. Does nothing outside of ranks, or while no rank has changed its environment.
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
