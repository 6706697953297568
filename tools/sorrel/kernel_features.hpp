//! KernelFeatures - what the kernel and processor offer that the runtime makes use of, asked for by
//! trying.
#pragma once

namespace sorrel::tool {

struct KernelFeatures {
  bool futex = false;          ///< workers sleep on it
  bool membarrier = false;     ///< private expedited: parking without a fence on the sender's path
  bool fsgsbase = false;       ///< cheap switch of thread-locals for programs that have some
  bool guard_install = false;  ///< guard pages that take no memory map (MADV_GUARD_INSTALL)
};

[[nodiscard]] KernelFeatures read_kernel_features();

/// Whether processes that `run` starts may read each other's memory. Starts two of them to find
/// out.
[[nodiscard]] bool can_read_peer_memory();

}  // namespace sorrel::tool
