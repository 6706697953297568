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
  /// Where it was found, an absolute path; "": it has not been looked for.
  std::string file;
  /// The attribute MPI_APPNUM of its ranks.
  std::int32_t number = 0;
  /// In the MPI_COMM_WORLD of all ranks of the spawn: the first of these, and the number of all.
  std::int32_t first_rank = 0;
  std::int32_t world_size = 0;
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

/// A program of a command, as found in the file system.
struct FoundProgram {
  /// Why it cannot be started, for a user; "": it was found.
  std::string error;
  /// An absolute path.
  std::string file;
  /// Whether it is the program of this process, or a script of it.
  bool is_own = false;
};

}  // namespace sorrel::mpi
