//! open, creat, fopen and their variants: what a rank opens may get another descriptor
//! (rank/current_files.hpp).
//!
//! A library of the program may wrap these functions, too, and follow this library in the search
//! order: its copy for the rank is called then, by the function of the same name. It does not see
//! the calls of this library.

#include <cstdarg>
#include <cstdio>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "program/base/driver_code.hpp"
#include "program/base/file_openers.hpp"
#include "program/base/libc.hpp"
#include "program/rank/current_files.hpp"
#include "program/rank/rank_symbol.hpp"

using namespace sorrel::program;

namespace {

using OpenAt = int(int folder, const char* path, int flags, ...);
using OpenChecked = int(const char* path, int flags);
using OpenAtChecked = int(int folder, const char* path, int flags);

using Open = int(const char* path, int flags, ...);
using Create = int(const char* path, mode_t rights);
using OpenStream = FILE*(const char* path, const char* mode);

/// A name of file_openers.
struct OpenerName {
  consteval OpenerName(const char* opener) : text(opener) {
    if (!opens_files(opener)) throw "not in file_openers";
  }

  const char* text;
};

template <class Function>
Function* next_opener(OpenerName name) {
  return next_definition<Function>(name.text);
}

// Found when this library is loaded, because signal handlers may not look up symbols. They are null
// in constructors of libraries that are initialised before.
const auto next_open = next_opener<Open>("open");
const auto next_open64 = next_opener<Open>("open64");
const auto next_openat = next_opener<OpenAt>("openat");
const auto next_openat64 = next_opener<OpenAt>("openat64");
const auto next_creat = next_opener<Create>("creat");
const auto next_creat64 = next_opener<Create>("creat64");
const auto next_open_checked = next_opener<OpenChecked>("__open_2");
const auto next_open64_checked = next_opener<OpenChecked>("__open64_2");
const auto next_openat_checked = next_opener<OpenAtChecked>("__openat_2");
const auto next_openat64_checked = next_opener<OpenAtChecked>("__openat64_2");
const auto next_fopen = next_opener<OpenStream>("fopen");
const auto next_fopen64 = next_opener<OpenStream>("fopen64");

/// The C library's, even if a library of the program wraps it.
OpenStream* system_fopen() {
  static auto* const found = [] {
    static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
    void* const system = real_open("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    return reinterpret_cast<OpenStream*>(loader_dlsym()(system, "fopen"));
  }();
  return found;
}

/// Rights of a new file, which are an argument only if the flags say so.
[[nodiscard]] mode_t rights_in(int flags, va_list values) {
  const bool has_rights = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_rights ? va_arg(values, mode_t) : 0;
}

/// Calls the next definition; `system` for calls of this library, and before it is initialised.
template <class Function, class System, class... Arguments>
int open_next(const void* caller, Function* next, System&& system, Arguments... arguments) {
  if (next == nullptr || is_of_process(caller)) return static_cast<int>(system());
  return adopt_file(definition_of_rank(next)(arguments...), caller);
}

int open_path(Open* next, const char* path, int flags, mode_t rights, const void* caller) {
  const auto system = [=] { return syscall(SYS_openat, AT_FDCWD, path, flags, rights); };
  return open_next(caller, next, system, path, flags, rights);
}

int open_at(
    OpenAt* next, int folder, const char* path, int flags, mode_t rights, const void* caller) {
  const auto system = [=] { return syscall(SYS_openat, folder, path, flags, rights); };
  return open_next(caller, next, system, folder, path, flags, rights);
}

int create(Create* next, const char* path, mode_t rights, const void* caller) {
  const auto system = [=] {
    return syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, rights);
  };
  return open_next(caller, next, system, path, rights);
}

int open_checked(OpenChecked* next, const char* path, int flags, const void* caller) {
  const auto system = [=] { return syscall(SYS_openat, AT_FDCWD, path, flags); };
  return open_next(caller, next, system, path, flags);
}

int open_at_checked(
    OpenAtChecked* next, int folder, const char* path, int flags, const void* caller) {
  const auto system = [=] { return syscall(SYS_openat, folder, path, flags); };
  return open_next(caller, next, system, folder, path, flags);
}

FILE* open_stream(OpenStream* next, const char* path, const char* mode, const void* caller) {
  if (next == nullptr || is_of_process(caller)) return system_fopen()(path, mode);
  FILE* stream = definition_of_rank(next)(path, mode);
  adopt_file(stream, caller);
  return stream;
}

}  // namespace

static_assert(sizeof(off_t) == sizeof(off64_t));

// The C library's headers may define these names themselves (_FORTIFY_SOURCE).
extern "C" {
int sorrel_open(const char* path, int flags, ...) asm("open");
int sorrel_open64(const char* path, int flags, ...) asm("open64");
int sorrel_openat(int folder, const char* path, int flags, ...) asm("openat");
int sorrel_openat64(int folder, const char* path, int flags, ...) asm("openat64");
int sorrel_open_2(const char* path, int flags) asm("__open_2");
int sorrel_open64_2(const char* path, int flags) asm("__open64_2");
int sorrel_openat_2(int folder, const char* path, int flags) asm("__openat_2");
int sorrel_openat64_2(int folder, const char* path, int flags) asm("__openat64_2");
}

#define SORREL_CALLER __builtin_return_address(0)

// A function has its variable arguments in its own body only.
#define SORREL_READ_RIGHTS(rights, flags)         \
  va_list values;                                 \
  va_start(values, flags);                        \
  const mode_t rights = rights_in(flags, values); \
  va_end(values)

SORREL_INTERPOSED int sorrel_open(const char* path, int flags, ...) {
  SORREL_READ_RIGHTS(rights, flags);
  return open_path(next_open, path, flags, rights, SORREL_CALLER);
}

SORREL_INTERPOSED int sorrel_open64(const char* path, int flags, ...) {
  SORREL_READ_RIGHTS(rights, flags);
  return open_path(next_open64, path, flags, rights, SORREL_CALLER);
}

SORREL_INTERPOSED int sorrel_openat(int folder, const char* path, int flags, ...) {
  SORREL_READ_RIGHTS(rights, flags);
  return open_at(next_openat, folder, path, flags, rights, SORREL_CALLER);
}

SORREL_INTERPOSED int sorrel_openat64(int folder, const char* path, int flags, ...) {
  SORREL_READ_RIGHTS(rights, flags);
  return open_at(next_openat64, folder, path, flags, rights, SORREL_CALLER);
}

SORREL_INTERPOSED int creat(const char* path, mode_t rights) {
  return create(next_creat, path, rights, SORREL_CALLER);
}

SORREL_INTERPOSED int creat64(const char* path, mode_t rights) {
  return create(next_creat64, path, rights, SORREL_CALLER);
}

// With _FORTIFY_SOURCE, where the flags are not a constant. They create no file, so have no rights.
SORREL_INTERPOSED int sorrel_open_2(const char* path, int flags) {
  return open_checked(next_open_checked, path, flags, SORREL_CALLER);
}

SORREL_INTERPOSED int sorrel_open64_2(const char* path, int flags) {
  return open_checked(next_open64_checked, path, flags, SORREL_CALLER);
}

SORREL_INTERPOSED int sorrel_openat_2(int folder, const char* path, int flags) {
  return open_at_checked(next_openat_checked, folder, path, flags, SORREL_CALLER);
}

SORREL_INTERPOSED int sorrel_openat64_2(int folder, const char* path, int flags) {
  return open_at_checked(next_openat64_checked, folder, path, flags, SORREL_CALLER);
}

SORREL_INTERPOSED FILE* fopen(const char* path, const char* mode) {
  return open_stream(next_fopen, path, mode, SORREL_CALLER);
}

SORREL_INTERPOSED FILE* fopen64(const char* path, const char* mode) {
  return open_stream(next_fopen64, path, mode, SORREL_CALLER);
}
