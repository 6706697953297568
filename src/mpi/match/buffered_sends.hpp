//! BufferedSends - an attached buffer and its accounting. buffered.hpp has what is done with it.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/match/request.hpp"

namespace sorrel::mpi {

/// An attached buffer and the sends that use it.
struct BufferedSends {
  void* buffer = nullptr;
  std::size_t bytes = 0;
  std::size_t bytes_in_use = 0;
  bool is_attached = false;
  /// Fibers that wait for bytes_in_use to become 0.
  core::FiberQueue flushers;
  /// Requests of MPI_Buffer_iflush and its like, complete when bytes_in_use becomes 0.
  std::vector<Request*> flush_requests;
};

}  // namespace sorrel::mpi
