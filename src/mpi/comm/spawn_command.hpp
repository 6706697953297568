//! SpawnCommand - a command of MPI_Comm_spawn or MPI_Comm_spawn_multiple: which program, and how
//! many ranks of it. Plain data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi.h"

namespace sorrel::mpi {

struct SpawnCommand {
  /// As the caller has named it.
  std::string program;
  /// Without the name of the program.
  std::vector<std::string> arguments;
  /// Wanted at first, and when the ranks are made, their number.
  std::int32_t rank_count = 0;
  // From the info object:
  /// "soft": numbers of ranks that will do as well, ascending; empty: none but `rank_count`.
  std::vector<std::int32_t> soft_counts;
  /// "wdir"; "": the directory in which the job began.
  std::string directory;
  /// "path": folders, a:b, in which the program is looked for; "": those of PATH.
  std::string search_path;
  /// "mpi_initial_errhandler".
  MPI_Errhandler errhandler = MPI_ERRORS_ARE_FATAL;
};

}  // namespace sorrel::mpi
