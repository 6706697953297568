//! ScriptPlace - where a script in Python makes the call of MPI that begins.
#pragma once

#include <string_view>

#include "runtime/python/lines.hpp"
#include "symbols/source_lines.hpp"

namespace sorrel::abi {

class ScriptPlace {
 public:
  /// The calling thread, or the rank that it runs, makes the call. Searches for an interpreter in
  /// the first call of a process only. Not in a signal handler.
  ScriptPlace() {
    text_[0] = '\0';
    if (!runtime::has_python_lines()) return;
    runtime::find_python(runtime::PythonSearch::first);
    if (runtime::is_python_found() && runtime::describe_python({&text_, 1}) == 0) text_[0] = '\0';
  }

  /// "solve (heat.py:12)"; empty: the thread runs no Python.
  [[nodiscard]] std::string_view text() const { return text_.data(); }

 private:
  symbols::SourceText text_;
};

}  // namespace sorrel::abi
