//! Result - a value, or one line that states the error and what is allowed.
//!
//! The way in which functions of grids and tools report errors that a correct program meets: bad
//! input, a missing file. Its names are those of std::expected<T, std::string>, and Error is its
//! std::unexpected. Any thread; plain data. The value of a Result without a value is undefined
//! behaviour. (Graphs throw GraphError: their errors are in the program.)
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace sorrel {

/// One line, without a full stop.
struct Error {
  std::string text;  ///< what is wrong, and what is allowed
};

/// A value, or one line that states the error and what is allowed.
/// @code
/// const auto plan = Plan::choose(machine, problem, ranks);
/// if (!plan) return report(plan.error());
/// use(plan->best());
/// @endcode
template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;            ///< of the value
  using error_type = std::string;  ///< of the error

  /// A result with a value.
  ///
  /// @param value moved into the result
  Result(T value) : value_(std::move(value)) {}  // NOLINT: meant to convert

  /// A result with an error.
  ///
  /// @param error its line is moved into the result
  Result(Error error) : error_(std::move(error.text)) {}  // NOLINT: meant to convert

  /// @return whether there is a value
  [[nodiscard]] bool has_value() const { return value_.has_value(); }

  /// @return whether there is a value
  explicit operator bool() const { return has_value(); }

  /// @return the value; only if there is one
  [[nodiscard]] T& value() & { return *value_; }

  /// @return the value; only if there is one
  [[nodiscard]] const T& value() const& { return *value_; }

  /// @return the value; only if there is one
  [[nodiscard]] T&& value() && { return *std::move(value_); }

  /// @return the value; only if there is one
  [[nodiscard]] T& operator*() & { return *value_; }

  /// @return the value; only if there is one
  [[nodiscard]] const T& operator*() const& { return *value_; }

  /// @return the value; only if there is one
  [[nodiscard]] T&& operator*() && { return *std::move(value_); }

  /// @return the value's address; only if there is one
  [[nodiscard]] T* operator->() { return &*value_; }

  /// @return the value's address; only if there is one
  [[nodiscard]] const T* operator->() const { return &*value_; }

  /// @param other converted to the type of the value
  /// @return the value; `other` if there is none
  template <class Other>
  [[nodiscard]] T value_or(Other&& other) const& {
    return has_value() ? *value_ : static_cast<T>(std::forward<Other>(other));
  }

  /// @return the line; "" if there is a value
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::optional<T> value_;
  std::string error_;
};

/// Success, or one line that states the error and what is allowed.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;         ///< there is none
  using error_type = std::string;  ///< of the error

  /// Success.
  Result() = default;

  /// A result with an error.
  ///
  /// @param error its line is moved into the result
  Result(Error error) : error_(std::move(error.text)) {}  // NOLINT: meant to convert

  /// @return whether there is no error
  [[nodiscard]] bool has_value() const { return !error_.has_value(); }

  /// @return whether there is no error
  explicit operator bool() const { return has_value(); }

  /// @return the line; "" for success
  [[nodiscard]] std::string error() const { return error_.value_or(std::string()); }

 private:
  std::optional<std::string> error_;
};

}  // namespace sorrel
