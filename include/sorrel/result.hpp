//! Result - a value, or one line that states the error and what is allowed.
//!
//! The way in which Sorrel reports errors. Names and behaviour are those of std::expected<T,
//! std::string>, in C++20: value() throws without a value, operator* and error() need what they
//! return, and and_then() and its like pass on what they do not handle. Error is std::unexpected.
//! Constructors and chains of declarations, as of graphs, cannot return a Result: they throw what
//! value() would. Any thread; plain data.
#pragma once

#include <concepts>
#include <functional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <version>

#include <sorrel/require_cxx20.hpp>

#if defined(__cpp_lib_expected)
#include <expected>
#endif

namespace sorrel {

/// One line, without a full stop. The std::unexpected of a Result.
struct Error {
  std::string text;  ///< what is wrong, and what is allowed

  /// @return the line
  [[nodiscard]] const std::string& error() const { return text; }

  friend bool operator==(const Error&, const Error&) = default;
};

/// What Result::value() throws without a value. The std::bad_expected_access of a Result.
class BadResultAccess : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  /// @return the line of the error, as what() does
  [[nodiscard]] std::string error() const { return what(); }
};

template <class T>
class Result;

namespace detail {

template <class T>
inline constexpr bool is_result = false;

template <class T>
inline constexpr bool is_result<Result<T>> = true;

/// What makes the value of a Result<T>, and is not its error.
template <class From, class T>
concept MakesValue =
    !std::is_void_v<T> && std::is_constructible_v<T, From> &&
    !std::same_as<std::remove_cvref_t<From>, Error> && !is_result<std::remove_cvref_t<From>>;

}  // namespace detail

/// A value, or one line that states the error and what is allowed. Result<void> is success or a
/// line.
/// @code
/// const auto plan = Plan::choose(machine, problem, ranks);
/// if (!plan) return report(plan.error());
/// use(plan->best());
/// @endcode
template <class T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<std::remove_cv_t<T>, Error>,
                "the value of a Result is no reference and no Error");

  /// A Result<void> has an empty value.
  using Stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

  template <class From>
  static constexpr bool must_be_explicit = !std::is_convertible_v<From, Stored>;

 public:
  using value_type = T;            ///< of the value
  using error_type = std::string;  ///< of the error
  using unexpected_type = Error;   ///< what makes a Result with an error

  /// A result with the value T(), or success.
  Result()
    requires std::is_default_constructible_v<Stored>
  = default;

  /// A result with a value.
  ///
  /// @param value moved or copied into the result
  template <class From = Stored>
    requires detail::MakesValue<From, T>
  explicit(must_be_explicit<From>) Result(From&& value)  // NOLINT: meant to convert
      : state_(std::in_place_index<0>, std::forward<From>(value)) {}

  /// A result with an error.
  ///
  /// @param error its line is moved into the result
  Result(Error error)  // NOLINT: meant to convert
      : state_(std::in_place_index<1>, std::move(error.text)) {}

  /// @return whether there is a value
  [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }

  /// @return whether there is a value
  explicit operator bool() const noexcept { return has_value(); }

  /// @return the value
  /// @throws BadResultAccess with the line of the error, if there is no value
  std::add_lvalue_reference_t<T> value() & {
    require_value();
    return **this;
  }

  /// @return the value
  /// @throws BadResultAccess with the line of the error, if there is no value
  std::add_lvalue_reference_t<const T> value() const& {
    require_value();
    return **this;
  }

  /// @return the value
  /// @throws BadResultAccess with the line of the error, if there is no value
  std::add_rvalue_reference_t<T> value() && {
    require_value();
    return *std::move(*this);
  }

  /// @return the value; undefined without one
  std::add_lvalue_reference_t<T> operator*() & noexcept {
    if constexpr (!std::is_void_v<T>) return *std::get_if<0>(&state_);
  }

  /// @return the value; undefined without one
  std::add_lvalue_reference_t<const T> operator*() const& noexcept {
    if constexpr (!std::is_void_v<T>) return *std::get_if<0>(&state_);
  }

  /// @return the value; undefined without one
  std::add_rvalue_reference_t<T> operator*() && noexcept {
    if constexpr (!std::is_void_v<T>) return std::move(*std::get_if<0>(&state_));
  }

  /// @return the address of the value; undefined without one
  [[nodiscard]] std::add_pointer_t<T> operator->() noexcept
    requires(!std::is_void_v<T>)
  {
    return std::get_if<0>(&state_);
  }

  /// @return the address of the value; undefined without one
  [[nodiscard]] std::add_pointer_t<const T> operator->() const noexcept
    requires(!std::is_void_v<T>)
  {
    return std::get_if<0>(&state_);
  }

  /// @return the line of the error; undefined with a value
  [[nodiscard]] const std::string& error() const& noexcept { return *std::get_if<1>(&state_); }

  /// @return the line of the error; undefined with a value
  [[nodiscard]] std::string&& error() && noexcept { return std::move(*std::get_if<1>(&state_)); }

  /// @param other converted to the type of the value
  /// @return the value; `other` if there is none
  template <class Other>
  [[nodiscard]] Stored value_or(Other&& other) const&
    requires(!std::is_void_v<T>)
  {
    return has_value() ? **this : static_cast<T>(std::forward<Other>(other));
  }

  /// @param other converted to the type of the value
  /// @return the value; `other` if there is none
  template <class Other>
      [[nodiscard]] Stored value_or(Other&& other) &&
      requires(!std::is_void_v<T>) {
        return has_value() ? *std::move(*this) : static_cast<T>(std::forward<Other>(other));
      }

      /// @param other a line
      /// @return the line of the error; `other` if there is a value
      [[nodiscard]] std::string error_or(std::string other) const {
    return has_value() ? std::move(other) : error();
  }

  /// Calls `next` with the value, if there is one: the next of several calls that may fail.
  ///
  /// @param next returns a Result
  /// @return what `next` returns; the error if there is no value
  template <class Next>
  auto and_then(Next&& next) const& {
    return after<false>(*this, std::forward<Next>(next));
  }

  /// Calls `next` with the value, which it may move from.
  ///
  /// @param next returns a Result
  /// @return what `next` returns; the error if there is no value
  template <class Next>
  auto and_then(Next&& next) && {
    return after<false>(std::move(*this), std::forward<Next>(next));
  }

  /// Replaces the value, if there is one.
  ///
  /// @param change called with the value
  /// @return a Result with what `change` returns; the error if there is no value
  template <class Change>
  auto transform(Change&& change) const& {
    return after<true>(*this, std::forward<Change>(change));
  }

  /// Replaces the value, if there is one.
  ///
  /// @param change called with the value, which it may move from
  /// @return a Result with what `change` returns; the error if there is no value
  template <class Change>
  auto transform(Change&& change) && {
    return after<true>(std::move(*this), std::forward<Change>(change));
  }

  /// Calls `instead` with the line of the error, if there is one.
  ///
  /// @param instead returns a Result of the same type
  /// @return this result if it has a value, else what `instead` returns
  template <class Instead>
  Result or_else(Instead&& instead) const {
    return has_value() ? *this : std::invoke(std::forward<Instead>(instead), error());
  }

  /// Replaces the line of the error, if there is one: "machine.json: " before it.
  ///
  /// @param change called with the line, returns a line
  /// @return this result if it has a value, else one with the other line
  template <class Change>
  Result transform_error(Change&& change) const {
    if (has_value()) return *this;
    return Error{std::invoke(std::forward<Change>(change), error())};
  }

  friend bool operator==(const Result&, const Result&) = default;

#if defined(__cpp_lib_expected)
  /// A result with the same value or error.
  ///
  /// @param other moved or copied into the result
  Result(std::expected<T, std::string> other)  // NOLINT: meant to convert
      : Result(from_expected(std::move(other))) {}

  /// @return an std::expected with the same value or error
  operator std::expected<T, std::string>() const {  // NOLINT: meant to convert
    if (!has_value()) return std::unexpected<std::string>(error());
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return **this;
    }
  }
#endif

 private:
  void require_value() const {
    if (!has_value()) throw BadResultAccess(error());
  }

  /// and_then(), and transform() if `is_wrapped`.
  template <bool is_wrapped, class Self, class Next>
  static auto after(Self&& self, Next&& next) {
    const auto call = [&]() -> decltype(auto) {
      if constexpr (std::is_void_v<T>) {
        return std::invoke(std::forward<Next>(next));
      } else {
        return std::invoke(std::forward<Next>(next), *std::forward<Self>(self));
      }
    };
    using Returned = std::remove_cvref_t<decltype(call())>;
    if constexpr (!is_wrapped) {
      static_assert(detail::is_result<Returned>, "the function of and_then() returns a Result");
      return self.has_value() ? call() : Returned(Error{std::forward<Self>(self).error()});
    } else {
      if (!self.has_value()) return Result<Returned>(Error{std::forward<Self>(self).error()});
      if constexpr (std::is_void_v<Returned>) {
        call();
        return Result<void>();
      } else {
        return Result<Returned>(call());
      }
    }
  }

#if defined(__cpp_lib_expected)
  static Result from_expected(std::expected<T, std::string>&& other) {
    if (!other.has_value()) return Error{std::move(other).error()};
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return *std::move(other);
    }
  }
#endif

  std::variant<Stored, std::string> state_;
};

}  // namespace sorrel
