//! open, creat, fopen and their variants: what a rank opens may get another descriptor
//! (rank/current_files.hpp).

#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/base/libc.hpp"
#include "program/rank/current_files.hpp"

using namespace sorrel::program;

namespace {

using OpenAt = int(int folder, const char* path, int flags, ...);
using OpenChecked = int(const char* path, int flags);
using OpenAtChecked = int(int folder, const char* path, int flags);

// Found when this library is loaded, because signal handlers may not look up symbols.
const auto next_openat = next_definition<OpenAt>("openat");
const auto next_open_checked = next_definition<OpenChecked>("__open_2");
const auto next_openat_checked = next_definition<OpenAtChecked>("__openat_2");

/// Rights of a new file, which are an argument only if the flags say so.
[[nodiscard]] mode_t rights_in(int flags, va_list values) {
  const bool has_rights = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_rights ? va_arg(values, mode_t) : 0;
}

int open_at(int folder, const char* path, int flags, mode_t rights, const void* caller) {
  // Before this library is initialised there is no pointer.
  const int opened = next_openat != nullptr
                         ? next_openat(folder, path, flags, rights)
                         : static_cast<int>(syscall(SYS_openat, folder, path, flags, rights));
  return adopt_file(opened, caller);
}

}  // namespace

static_assert(sizeof(off_t) == sizeof(off64_t));

// The C library's headers may define these names themselves (_FORTIFY_SOURCE).
extern "C" {
int sorrel_open(const char* path, int flags, ...) asm("open");
int sorrel_openat(int folder, const char* path, int flags, ...) asm("openat");
int sorrel_open_2(const char* path, int flags) asm("__open_2");
int sorrel_open64_2(const char* path, int flags) asm("__open64_2");
int sorrel_openat_2(int folder, const char* path, int flags) asm("__openat_2");
int sorrel_openat64_2(int folder, const char* path, int flags) asm("__openat64_2");
}

SORREL_INTERPOSED int sorrel_open(const char* path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  const mode_t rights = rights_in(flags, values);
  va_end(values);
  return open_at(AT_FDCWD, path, flags, rights, __builtin_return_address(0));
}

SORREL_INTERPOSED_AS(open) int open64(const char* path, int flags, ...);

SORREL_INTERPOSED int sorrel_openat(int folder, const char* path, int flags, ...) {
  va_list values;
  va_start(values, flags);
  const mode_t rights = rights_in(flags, values);
  va_end(values);
  return open_at(folder, path, flags, rights, __builtin_return_address(0));
}

SORREL_INTERPOSED_AS(openat) int openat64(int folder, const char* path, int flags, ...);

SORREL_INTERPOSED int creat(const char* path, mode_t rights) {
  return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, rights, __builtin_return_address(0));
}

SORREL_INTERPOSED_AS(creat) int creat64(const char* path, mode_t rights);

// With _FORTIFY_SOURCE, where the flags are not a constant.
SORREL_INTERPOSED int sorrel_open_2(const char* path, int flags) {
  return adopt_file(next_open_checked(path, flags), __builtin_return_address(0));
}

SORREL_INTERPOSED int sorrel_open64_2(const char* path, int flags) {
  return adopt_file(next_open_checked(path, flags), __builtin_return_address(0));
}

SORREL_INTERPOSED int sorrel_openat_2(int folder, const char* path, int flags) {
  return adopt_file(next_openat_checked(folder, path, flags), __builtin_return_address(0));
}

SORREL_INTERPOSED int sorrel_openat64_2(int folder, const char* path, int flags) {
  return adopt_file(next_openat_checked(folder, path, flags), __builtin_return_address(0));
}

SORREL_INTERPOSED FILE* fopen(const char* path, const char* mode) {
  static auto* const real = next_definition<decltype(::fopen)>("fopen");
  FILE* stream = real(path, mode);
  adopt_file(stream, __builtin_return_address(0));
  return stream;
}

SORREL_INTERPOSED_AS(fopen) FILE* fopen64(const char* path, const char* mode);
