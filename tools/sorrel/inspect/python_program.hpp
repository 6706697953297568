//! PythonProgram - how an interpreter of Python becomes a program whose ranks share a process.
//!
//! A position-independent interpreter is privatized like any other program. Others contain their
//! library at a fixed address. In their place `sorrel-python` (tools/python) runs the shared
//! library of the same version, with the interpreter's path as argv[0], by which Python finds its
//! environment. Reads files only; one function starts a program, and says so.
#pragma once

#include <string>

#include "os/elf_file.hpp"
#include "os/library_search.hpp"
#include "tools/sorrel/common/command.hpp"

namespace sorrel::tool {

/// Whether the program has, or calls, the function that runs an interpreter of Python.
[[nodiscard]] bool is_python(const os::ElfFile& program);

struct PythonLibrary {
  /// libpython3.11.so.1.0, libpython3.14t.so.1.0 (without a lock); "" if the interpreter does not
  /// show its version.
  std::string name;
  /// "" if no file of exactly the interpreter's version and kind is found.
  std::string path;
};

/// The shared library of the interpreter at `path`: beside it, or where the loader finds it.
[[nodiscard]] PythonLibrary find_python_library(const os::ElfFile& interpreter,
                                                const std::string& path,
                                                const os::LibrarySearch& search);

/// The interpreter that a shim of pyenv at `path` runs in this folder, or "". Starts the shim.
[[nodiscard]] std::string interpreter_of_shim(const std::string& path);

/// Whether an interpreter with these arguments (its name first) reads its program from standard
/// input: they name no script and no module, and have no text of a program. Pure.
[[nodiscard]] bool reads_program_from_input(Arguments arguments);

}  // namespace sorrel::tool
