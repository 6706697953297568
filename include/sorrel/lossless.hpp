/// @file
/// Whether the result of a function fits the type that keeps it.
#pragma once

#include <concepts>
#include <type_traits>

#include <sorrel/require_cxx20.hpp>

namespace sorrel::detail {

/// Whether a From becomes a To without being cut off, as a double that becomes an int, or a 64-bit
/// integer one of 32 bits. The number type that holds both is To itself; bool, char and short may
/// come back as int.
template <class From, class To>
constexpr bool keeps_value() {
  using Plain = std::remove_cvref_t<From>;
  if constexpr (std::is_arithmetic_v<Plain> && std::is_arithmetic_v<To>) {
    return std::same_as<std::common_type_t<Plain, To>, To> || std::same_as<Plain, decltype(+To{})>;
  } else {
    return std::is_convertible_v<Plain, To>;
  }
}

template <class Result, class Function, class... Arguments>
constexpr bool returns_whole() {
  if constexpr (std::is_invocable_v<Function, Arguments...>) {
    return keeps_value<std::invoke_result_t<Function, Arguments...>, Result>();
  } else {
    return false;
  }
}

}  // namespace sorrel::detail
