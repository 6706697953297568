//! ProgramStart - the arguments of the program's start, passed to the composition root instead of
//! to the program.
//!
//! This library replaces __libc_start_main. The C library is initialised as always, but no
//! constructor of the program runs. program_driver() replaces main: it makes the ranks and returns
//! the exit status of the process.
#pragma once

namespace sorrel::program {

using Main = int (*)(int argc, char** argv, char** environment);
using LegacyInit = void (*)(int argc, char** argv, char** environment);

struct ProgramStart {
  Main main = nullptr;  // in the template image: never call it, call its counterpart
  /// Runs the constructors of programs linked before glibc 2.34; null for others (the dynamic
  /// section lists theirs).
  LegacyInit init = nullptr;
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
};

/// Defined by the composition root. Weak, so that the module links without one: the program then
/// runs as it is, not privatized.
[[gnu::weak]] int program_driver(const ProgramStart& start);

/// Also defined by the composition root: whether the program runs in process mode, as it is, in a
/// process of its own.
[[gnu::weak]] bool program_runs_in_process_mode();

/// Defined there, too: called immediately before the constructors of such a program.
[[gnu::weak]] void program_begins_in_process_mode();

}  // namespace sorrel::program
