//! Collective accesses: the members of a process access the file together, in two phases, if their
//! parts are interleaved or short; else each for itself. README.md has the protocol.
#pragma once

#include "mpi/collectives/collectives.hpp"
#include "mpi/io/access.hpp"

namespace sorrel::mpi {

/// On `member`, the file's communicator or a shadow of it. *moved: bytes of the program's data. All
/// members of this process get an error of any of them. May suspend.
[[nodiscard]] int access_together(const Member& member,
                                  File& file,
                                  const FileAccess& access,
                                  std::size_t* moved);

}  // namespace sorrel::mpi
