//! Commands - the subcommands of `sorrel`, one file each.
//!
//! To add one: write its file with a function of this shape, declare it here, add a row to the
//! table in main.cpp. `arguments` holds what follows the subcommand's name. The result is the exit
//! status.
#pragma once

#include <span>

namespace sorrel::tool {

/// The words after the subcommand's name; the array they lie in ends with a null pointer, as argv
/// does.
using Arguments = std::span<char* const>;

int run_command(Arguments arguments);      ///< run.cpp
int mpiexec_command(Arguments arguments);  ///< mpiexec.cpp: `run` in the words of other MPIs
int info_command(Arguments arguments);     ///< info.cpp
int cc_command(Arguments arguments);       ///< compile.cpp
int cxx_command(Arguments arguments);      ///< compile.cpp
int fortran_command(Arguments arguments);  ///< fortran.cpp: mpifort, refused
int plan_command(Arguments arguments);     ///< plan.cpp
int bench_command(Arguments arguments);    ///< bench.cpp

struct Command {
  const char* name;
  const char* summary;
  int (*run)(Arguments arguments);
};

}  // namespace sorrel::tool
