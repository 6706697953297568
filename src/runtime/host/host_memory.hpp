//! HostMemory - memory that the processes of one node share under a host MPI.
//!
//! They need the host MPI only for start and end, and exchange records in this memory, as those of
//! `--procs` do. Either all processes of a node share memory or none.
#pragma once

#include <cstdint>

#include "core/job_memory.hpp"
#include "transport/host/host_transport.hpp"

namespace sorrel::runtime {

struct HostMemory {
  /// Stays as long as the process; null if the node's processes do not share memory.
  core::JobMemory* memory = nullptr;
  std::uint32_t process = 0;  ///< index of this process among those that share it
};

/// Called by all processes of the job. `may_share` counts in the first process of a node.
[[nodiscard]] HostMemory share_host_memory(const transport::HostJob& job,
                                           std::uint32_t workers_per_process,
                                           bool may_share);

}  // namespace sorrel::runtime
