//! Result - a value, or one line that states the error and what is allowed.
//! For expected errors: bad input, a missing file. Any thread; plain data. value() of a Result
//! without a value is undefined behaviour.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace sorrel {

/// One line, without a full stop.
struct Error {
  std::string text;
};

/// A value, or one line that states the error and what is allowed.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT: meant to convert

  Result(Error error) : error_(std::move(error.text)) {}  // NOLINT: meant to convert

  [[nodiscard]] bool has_value() const { return value_.has_value(); }

  [[nodiscard]] const T& value() const& { return *value_; }

  [[nodiscard]] T&& value() && { return *std::move(value_); }

  /// "" if there is a value.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::optional<T> value_;
  std::string error_;
};

}  // namespace sorrel
