//! CheckedCall - a call of MPI in progress: its function, its arguments by name, and its place.
//!
//! Lives on the stack of the call. The rank's fiber only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "check/checked_call.h"

namespace sorrel::check {

/// The functions of MPI, without prefix; both sizes of counts are one function.
enum class Function : std::int16_t {
#include "abi_functions.inc"
};

/// As make_bindings.py numbers them.
enum class ArgumentKind : std::uint8_t {
  other,
  comm,
  datatype,
  errhandler,
  file,
  group,
  info,
  message,
  op,
  request,
  session,
  win,
  keyval,
};

enum class Direction : std::uint8_t { in, out, inout };

class CheckedCall {
 public:
  explicit CheckedCall(const sorrel_checked_call& call) : call_(call) {}

  [[nodiscard]] Function function() const { return static_cast<Function>(call_.function->number); }

  /// "MPI_Send".
  [[nodiscard]] const char* name() const { return call_.function->name; }

  [[nodiscard]] const void* site() const { return call_.site; }

  /// Where a script in Python makes the call; null: no script.
  [[nodiscard]] const char* script() const { return call_.script; }

  /// The program's variable of a handle, which tells requests of one handle apart. Null: not known.
  [[nodiscard]] const void* own_variable(const void* variable) const {
    return call_.has_own_variables != 0 ? variable : nullptr;
  }

  [[nodiscard]] bool is_large() const { return call_.function->is_large != 0; }

  [[nodiscard]] int argument_count() const { return call_.function->argument_count; }

  [[nodiscard]] std::intptr_t word(int argument) const { return call_.words[argument]; }

  /// The number of the argument of this name; -1: none.
  [[nodiscard]] int index_of(std::string_view argument) const;

  [[nodiscard]] bool has(std::string_view argument) const { return index_of(argument) >= 0; }

  /// The argument of this name, which the function has.
  [[nodiscard]] std::intptr_t word(std::string_view argument) const {
    return call_.words[index_of(argument)];
  }

  [[nodiscard]] Direction direction(std::string_view argument) const {
    return static_cast<Direction>(call_.function->arguments[index_of(argument)].direction);
  }

  template <class T>
  [[nodiscard]] T* pointer(std::string_view argument) const {
    return reinterpret_cast<T*>(word(argument));
  }

  template <class Handle>
  [[nodiscard]] Handle handle(std::string_view argument) const {
    return reinterpret_cast<Handle>(word(argument));
  }

  /// An element of an array of counts, in either size.
  [[nodiscard]] std::int64_t count_at(std::string_view array, std::size_t i) const {
    return is_large() ? pointer<const MPI_Count>(array)[i] : pointer<const int>(array)[i];
  }

  /// Calls visit(handle, kind, direction) for each handle argument and each element of arrays of
  /// handles; `handle` is a reference to the variable of an out or inout argument.
  template <class Visit>
  void for_each_handle(Visit&& visit) const {
    for (int i = 0; i < argument_count(); ++i) {
      const sorrel_checked_argument& argument = call_.function->arguments[i];
      const auto kind = static_cast<ArgumentKind>(argument.kind);
      if (kind == ArgumentKind::other || kind == ArgumentKind::keyval) continue;
      const auto direction = static_cast<Direction>(argument.direction);
      if (direction == Direction::in && argument.is_array == 0) {
        visit(call_.words[i], kind, direction);
        continue;
      }
      const std::intptr_t length = argument.is_array == 0 ? 1
                                   : argument.length >= 0 ? call_.words[argument.length]
                                                          : 0;
      const auto* variables = reinterpret_cast<const std::intptr_t*>(call_.words[i]);
      for (std::intptr_t k = 0; variables != nullptr && k < length; ++k)
        visit(variables[k], kind, direction);
    }
  }

 private:
  const sorrel_checked_call& call_;
};

}  // namespace sorrel::check
