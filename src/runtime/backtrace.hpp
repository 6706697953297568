//! Backtrace - a chain of calls, collected and written in a signal handler: no allocation, no lock
//! of the loader, memory of its own.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "runtime/source_lines.hpp"

namespace sorrel::runtime {

/// Whether the same executable or library holds both addresses. Safe in a signal handler.
[[nodiscard]] bool are_in_one_file(const void* address, const void* other);

class Backtrace {
 public:
  /// Initialises the unwinder and the loader once per process, so that no handler does.
  static void prepare();

  /// From a signal handler: the calls that led to the interrupted instruction. A jump to an address
  /// without code counts as a call of it: `context`, the handler's, is set back to the caller.
  void take_of_signal(void* context);

  /// From a signal handler that returns: the calls that led to the interrupted instruction.
  void take_of_interruption();

  /// The calls that led here, without the first ones that lie in the same files as `left_out`.
  void take_of_caller(std::span<const void* const> left_out);

  [[nodiscard]] std::span<const void* const> addresses() const {
    return {addresses_.data(), count_};
  }

  using Texts = std::array<SourceText, source_text_count_max>;

  /// The calls as text, up to the first empty one.
  void describe(Texts& texts) const;

 private:
  struct Walk;

  std::array<const void*, source_text_count_max> addresses_{};
  std::size_t count_ = 0;
};

}  // namespace sorrel::runtime
