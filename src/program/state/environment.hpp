//! Environment - a rank's environment variables, and the rank's `environ`.
//!
//! Used by the rank alone. A rank begins with the process's environment at start, whose texts all
//! ranks share, and with variables of its own. At its first change its array is copied.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "program/image/image_slab.hpp"

namespace sorrel::program {

/// The value of `name` in an array like environ, or nullptr.
[[nodiscard]] char* find_variable(char** values, std::string_view name);

class Environment {
 public:
  /// `own_variables`: "NAME=VALUE" texts, each ended by a null character; the same names for all
  /// ranks of the process. They replace variables of these names.
  Environment(const PrivatizedImage& copy, std::string own_variables);
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

  /// The value of one of the rank's own variables as it was at the start, or nullptr. Any thread.
  [[nodiscard]] const char* value_at_start(std::string_view name) const;

  /// Whether the rank has changed it.
  [[nodiscard]] bool is_changed() const { return own_ != nullptr; }

  /// Bytes that move_to() needs.
  [[nodiscard]] std::size_t bytes() const;

  /// Before the rank runs: copies array and texts to `place`, which is aligned for pointers and
  /// outlives this object.
  void move_to(void* place);

  /// The array of a rank that is restored, whose memory has it.
  void restore(char** values) { values_ = values; }

  /// Whether some rank of the process has an environment of its own.
  [[nodiscard]] static bool is_any_changed();

 private:
  struct Own;

  /// The rank's own array, equal to what its environ is.
  [[nodiscard]] Own& own();
  void replace(std::string_view name, char* text);

  const std::string own_variables_;
  /// The rank's array until its first change.
  std::unique_ptr<char*[]> values_at_start_;
  char** fallback_ = nullptr;  // environ of a program that names none
  char**& values_;
  std::unique_ptr<Own> own_;
};

}  // namespace sorrel::program
