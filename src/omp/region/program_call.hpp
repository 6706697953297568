//! ProgramCall - a call of the program into this library, as a tool sees it: where it returns, and
//! the frame in which the current task has entered the library.
//!
//! An object in each entry point that may wait or report something. Without a tool it is one branch
//! at each end. Any thread; makes a thread of the program an OpenMP thread if a tool may come.
#pragma once

#include "omp/region/native_thread.hpp"
#include "omp/tool/tool.hpp"

namespace sorrel::omp {

class ProgramCall {
 public:
  [[gnu::always_inline]] ProgramCall() {
    if (may_have_tool()) [[unlikely]]
      begin(__builtin_return_address(0), __builtin_dwarf_cfa());
  }

  [[gnu::always_inline]] ~ProgramCall() {
    if (thread_ != nullptr) [[unlikely]]
      end();
  }

  ProgramCall(const ProgramCall&) = delete;
  ProgramCall& operator=(const ProgramCall&) = delete;

 private:
  void begin(const void* code, void* frame);
  void end();

  TeamThread* thread_ = nullptr;
  const void* outer_code_ = nullptr;
};

}  // namespace sorrel::omp
