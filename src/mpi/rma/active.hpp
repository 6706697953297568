//! Active target synchronization: fence, and post, start, complete, wait (MPI 5.0, 12.5.1, 12.5.2).
//!
//! The rank's worker, in its fiber. Each returns MPI_SUCCESS or an error class, MPI_ERR_RMA_SYNC
//! where the open epochs do not allow the call. All may suspend: fence() until all members have
//! come, start() until the group has posted, wait() until its origins have completed.
#pragma once

#include "mpi/comm/group.hpp"
#include "mpi/rma/window.hpp"

namespace sorrel::mpi {

/// `assertion` is a sum of MPI_MODE_*.
[[nodiscard]] int fence(Win& win, int assertion);

[[nodiscard]] int post(Win& win, const Group& group);
[[nodiscard]] int start(Win& win, const Group& group);
[[nodiscard]] int complete_epoch(Win& win);
[[nodiscard]] int wait_epoch(Win& win);

/// Ends the exposure epoch if all origins have completed theirs.
[[nodiscard]] int test_epoch(Win& win, bool* is_complete);

}  // namespace sorrel::mpi
