//! Backtrace - a chain of calls, collected and written in a signal handler: no allocation, no lock
//! of the loader, memory of its own.
//!
//! A user sees those functions of this library that the program has called, as MPI_Send, and not
//! those behind them.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "symbols/source_lines.hpp"

namespace sorrel::symbols {

/// Whether the same executable or library holds both addresses. Safe in a signal handler.
[[nodiscard]] bool are_in_one_file(const void* address, const void* other);

/// Whether this library, or the C library, holds an address. Safe in a signal handler.
[[nodiscard]] bool is_of_this_library(const void* address);
[[nodiscard]] bool is_of_c_library(const void* address);

class Backtrace {
 public:
  /// `keeps_all`: also the calls in this library, and what calls main().
  explicit Backtrace(bool keeps_all = false) : keeps_all_(keeps_all) {}

  /// Initialises the unwinder and the loader once per process, so that no handler does.
  static void prepare();

  /// In a handler: takes the calls that led to the interrupted instruction. A jump to an address
  /// without code counts as a call of it: `context`, the handler's, is set back to the caller.
  void take_of_signal(void* context);

  /// In a signal handler that returns: takes the calls that led to the interrupted instruction.
  void take_of_interruption();

  /// The calls that led here, without the first ones that lie in the same files as `left_out`.
  void take_of_caller(std::span<const void* const> left_out);

  /// The calls that led to a call of this library, without the first ones in this library.
  void take_of_library();

  [[nodiscard]] bool keeps_all() const { return keeps_all_; }

  [[nodiscard]] std::span<const void* const> addresses() const {
    return {addresses_.data(), count_};
  }

  using Texts = std::array<SourceText, source_text_count_max>;

  /// The calls as text, up to the first empty one.
  void describe(Texts& texts) const;

  /// Leaves out the Fortran bindings, which the program has linked into itself: from `begin` to
  /// `end`. Both null: there are none.
  void leave_out_bindings(const void* begin, const void* end) {
    bindings_begin_ = begin;
    bindings_end_ = end;
  }

 private:
  struct Walk;

  [[nodiscard]] bool is_in_bindings(const void* address) const;

  std::array<const void*, source_text_count_max> addresses_{};
  std::size_t count_ = 0;
  bool keeps_all_;
  const void* bindings_begin_ = nullptr;
  const void* bindings_end_ = nullptr;
};

/// On standard error, a line each.
void write_calls(const Backtrace::Texts& calls);

}  // namespace sorrel::symbols
