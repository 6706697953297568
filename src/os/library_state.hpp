//! Library state - whether a shared library keeps anything that the ranks of one process would
//! share.
//!
//! Pure over an ElfFile. A library that no caller can change has no state: its writable memory
//! beyond what is read-only after relocation holds only what the compiler's start files put there
//! (__dso_handle, one byte of __do_global_dtors_aux, references to a personality routine). Stripped
//! libraries can be judged, too. Where the file leaves a doubt, the answer is that it has state.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "os/elf_file.hpp"

namespace sorrel::os {

/// What ranks of one process would share of this library: "4128 bytes of writable data", or "" if
/// nothing.
[[nodiscard]] std::string state_of(const ElfFile& library);

/// Whether `symbol`, which the library defines, names writable memory of it.
[[nodiscard]] bool is_variable(const ElfFile& library, const ElfSymbol& symbol);

/// Why ranks may share the library of this name though it has writable data, a sentence; "" where
/// nothing says so. For the system's and compilers' libraries, and for Sorrel's own.
[[nodiscard]] std::string_view reason_to_share(std::string_view soname);

/// Whether a user has declared, by name or path, that ranks may share this library.
[[nodiscard]] bool is_declared(std::span<const std::string> declared,
                               std::string_view soname,
                               std::string_view path);

/// The name that a user would know: libm.so.6 for /lib/x86_64-linux-gnu/libm.so.6.
[[nodiscard]] std::string_view base_name(std::string_view path);

}  // namespace sorrel::os
