//! Library state - whether a shared library has state that the ranks of one process would share.
//!
//! Pure over an ElfFile. A library that no caller can change has no state. Its writable memory,
//! beyond the part that is read-only after relocation, then holds only data of the compiler's start
//! files (__dso_handle, one byte of __do_global_dtors_aux, references to a personality routine).
//! Works for stripped libraries, too. In doubt, the answer is that the library has state.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "os/elf_file.hpp"

namespace sorrel::os {

/// The state that ranks of one process would share: "4128 bytes of writable data", or "" if there
/// is none.
[[nodiscard]] std::string state_of(const ElfFile& library);

/// Whether `symbol`, which the library defines, names writable memory of the library.
[[nodiscard]] bool is_variable(const ElfFile& library, const ElfSymbol& symbol);

/// A sentence: why ranks may share the library of this name although it has writable data; "" if no
/// reason is known. For libraries of the system, of compilers, and of Sorrel.
[[nodiscard]] std::string_view reason_to_share(std::string_view soname);

/// Whether this is the C++ library, of which each rank has its own if its program can have private
/// libraries. Its thread-locals are the state of exceptions, which fibers exchange, and the
/// argument of a running std::call_once.
[[nodiscard]] bool is_cxx_library(std::string_view soname);

/// Whether this library, which ranks share for a known reason, may be private to a rank instead.
[[nodiscard]] bool may_be_private(std::string_view soname);

/// Whether it replaces the allocator of a process, or checks all of its memory.
[[nodiscard]] bool is_of_whole_process(std::string_view soname);

/// Whether a user has declared, by name or path, that ranks may share this library.
[[nodiscard]] bool is_declared(std::span<const std::string> declared,
                               std::string_view soname,
                               std::string_view path);

/// Whether `path` names a library whose name begins with `name`, as "libm.so" does, or a copy of it
/// in a Python wheel: auditwheel renames libquadmath.so.0 to libquadmath-96973f99.so.0.0.0.
[[nodiscard]] bool is_library(std::string_view path, std::string_view name);

/// The name that users know: libm.so.6 for /lib/x86_64-linux-gnu/libm.so.6.
[[nodiscard]] std::string_view base_name(std::string_view path);

}  // namespace sorrel::os
