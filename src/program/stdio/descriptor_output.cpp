//! write and writev of Fortran's library (libgfortran) and of Python's to standard output and
//! error, in whole lines of the rank.
//!
//! These libraries buffer by themselves and write buffers, which end within a line. Other callers
//! mean the system call: bytes without a newline must arrive at once. So must what a signal handler
//! writes, since the rank's stream may be locked. The caller is Fortran's library if it lies in the
//! rank's libgfortran.so, or in an executable that contains the library and says so. It is Python's
//! in any thread of the rank, if it lies in libpython, or in an executable that is the interpreter.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

using namespace sorrel::program;

namespace {

// Found when this library is loaded, because signal handlers may not look up symbols.
const auto next_write = next_definition<decltype(::write)>("write");
const auto next_writev = next_definition<decltype(::writev)>("writev");

/// 0 is the distance of the executable.
[[nodiscard]] bool is_fortran_library(RankProcess& process, const Module& module) {
  return module.is_library("libgfortran.so") ||
         (module.shift == 0 && process.streams().has_linked_fortran());
}

[[nodiscard]] bool is_python_library(const Module& module) {
  return module.is_library("libpython") ||
         (module.shift == 0 && module.definition("Py_BytesMain") != nullptr);
}

/// The rank's output if `caller` writes lines to the descriptor, else null.
[[nodiscard]] RankOutput* lines_of(int descriptor, const void* caller) {
  if (descriptor != STDOUT_FILENO && descriptor != STDERR_FILENO) return nullptr;
  // First of all: a crash report is written when the state of ranks may be damaged.
  if (is_of_process(caller)) return nullptr;
  RankProcess* process = process_of_caller(caller);
  if (process == nullptr || process->signals().is_in_handler()) return nullptr;
  const Module* module = process->copy().module_at(reinterpret_cast<std::uintptr_t>(caller));
  if (module == nullptr) return nullptr;
  const bool are_lines = is_python_library(*module) || (is_fortran_library(*process, *module) &&
                                                        process_that_may_wait(caller) != nullptr);
  return are_lines ? process->streams().output_of(descriptor) : nullptr;
}

}  // namespace

SORREL_INTERPOSED ssize_t write(int descriptor, const void* data, std::size_t size) {
  RankOutput* lines = lines_of(descriptor, __builtin_return_address(0));
  if (lines != nullptr && lines->write_lines({static_cast<const char*>(data), size}))
    return static_cast<ssize_t>(size);
  // Before this library is initialised there is no pointer.
  return next_write != nullptr ? next_write(descriptor, data, size)
                               : syscall(SYS_write, descriptor, data, size);
}

SORREL_INTERPOSED ssize_t writev(int descriptor, const iovec* parts, int count) {
  if (RankOutput* lines = lines_of(descriptor, __builtin_return_address(0)); lines != nullptr) {
    ssize_t written = 0;
    for (int i = 0; i < count; ++i) {
      const std::string_view text(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
      if (!lines->write_lines(text)) break;
      written += static_cast<ssize_t>(text.size());
    }
    if (written > 0 || count == 0) return written;
  }
  return next_writev != nullptr ? next_writev(descriptor, parts, count)
                                : syscall(SYS_writev, descriptor, parts, count);
}

/// Called by a constructor of the Fortran bindings (src/fortran/by_hand.c) in an executable that
/// contains Fortran's library.
extern "C" [[gnu::visibility("default")]] void sorrel_announce_linked_fortran() {
  if (RankProcess* process = current_rank_process(); process != nullptr)
    process->streams().set_linked_fortran();
}
