//! RankFiles - what a rank has for all its files: the data representations that it has registered,
//! and the error handler of MPI_FILE_NULL. Created at first use, the owner's worker only.
#pragma once

#include "mpi/comm/errhandler.hpp"
#include "mpi/io/representation.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

struct RankFiles {
  RankFiles() : null_errhandler(errhandler_of(MPI_ERRORS_RETURN)) {}

  ~RankFiles() { release(*null_errhandler); }

  RankFiles(const RankFiles&) = delete;
  RankFiles& operator=(const RankFiles&) = delete;

  static RankFiles& of(RankState& self) {
    std::shared_ptr<void>& files = self.services().files;
    if (files == nullptr) files = std::make_shared<RankFiles>();
    return *static_cast<RankFiles*>(files.get());
  }

  Representations representations;
  /// The handler of calls without a file; each new file gets it, too.
  Errhandler* null_errhandler;
};

}  // namespace sorrel::mpi
