//! Environment - a rank's environment variables, and the rank's `environ`.
//!
//! Used by the rank alone. Ranks begin with one shared array, the process's environment at start. A
//! rank gets its own array at its first change.
#pragma once

#include <memory>
#include <string_view>

#include "program/image/image_slab.hpp"

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

}  // namespace sorrel::program
