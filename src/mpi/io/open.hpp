//! Opening and closing files: collective over the file's communicator, may suspend.
//!
//! The first member of each process opens the file for all members there. The first member of all
//! goes first, so that it alone creates the file.
#pragma once

#include "mpi/io/file.hpp"

namespace sorrel::mpi {

struct OpenArguments {
  const char* path;
  int amode;
  const Info& info;
};

/// MPI_ERR_AMODE: the bits do not go together.
[[nodiscard]] int check_amode(RankState& self, int amode);

/// The name without the prefix by which other implementations select a file system ("ufs:").
[[nodiscard]] const char* path_of(const char* filename);

/// Opens a file on `own_comm`, a communicator for it alone. `pointer_comm` is another one if the
/// members live in several processes, else null. Takes over both in every case.
/// MPI_ERR_NOT_SAME: amode differs. Errors of the system are the same on all members.
[[nodiscard]] int open_file(RankState& self,
                            Comm& own_comm,
                            Comm* pointer_comm,
                            const OpenArguments& arguments,
                            File** result);

/// Closes a file without accesses in progress; then the caller deletes it, also after an error.
[[nodiscard]] int close_file(File& file);

}  // namespace sorrel::mpi
