//! PythonStack - the functions in Python that a rank executes, as text.
//!
//! Taken in a signal handler, as the rank goes on afterwards: its functions may end.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/fixed_text.hpp"
#include "runtime/python/lines.hpp"

namespace sorrel::runtime {

class PythonStack {
 public:
  static constexpr std::size_t depth_max = 64;

  /// Finds the innermost functions of a rank, by its index among those of this process, at most
  /// `count_max`, of which outer ones that do not fit are left out.
  void take(std::size_t index, PythonState state, std::size_t count_max);

  /// Whether the rank runs no Python, as far as is known.
  [[nodiscard]] bool is_empty() const { return text_.is_empty(); }

  /// "main (script.py:12)"; empty: there is none.
  [[nodiscard]] std::string_view innermost() const { return text_.text().substr(0, line_bytes()); }

  /// Calls `visit(text)` for each function, the innermost first.
  template <class Visit>
  void for_each(Visit&& visit) const {
    std::string_view left = text_.text();
    while (!left.empty()) {
      const std::size_t end = left.find('\n');
      visit(left.substr(0, end));
      left.remove_prefix(end + 1);
    }
  }

 private:
  static constexpr std::size_t bytes_max = 2000;

  [[nodiscard]] std::size_t line_bytes() const {
    const std::size_t end = text_.text().find('\n');
    return end == std::string_view::npos ? 0 : end;
  }

  /// Each function is a line.
  FixedText<bytes_max> text_;
};

}  // namespace sorrel::runtime
