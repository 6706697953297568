//! ProgramStart - the moment at which the user's executable would begin, handed to the composition
//! root instead.
//!
//! This library stands in for __libc_start_main. The C library is initialised as always, but no
//! constructor of the program runs, and program_driver() takes the place of main: it makes the
//! ranks and returns the exit status of the process.
#pragma once

namespace sorrel::program {

using Main = int (*)(int argc, char** argv, char** environment);
using LegacyInit = void (*)(int argc, char** argv, char** environment);

struct ProgramStart {
  Main main = nullptr;  // the mould's: never call it, call a copy's counterpart
  /// Runs the constructors of programs linked before glibc 2.34; null for others (the dynamic
  /// section lists theirs).
  LegacyInit init = nullptr;
  int argc = 0;
  char** argv = nullptr;
  char** environment = nullptr;
};

/// Defined by the composition root. Weak, so that the module links without one: the program then
/// runs by itself, unprivatized.
[[gnu::weak]] int program_driver(const ProgramStart& start);

/// Defined by the composition root, too: whether the program is to run as it is, in a process that
/// it has for itself.
[[gnu::weak]] bool program_runs_in_place();

/// The same: called right before the main of such a program.
[[gnu::weak]] void program_begins_in_place();

}  // namespace sorrel::program
