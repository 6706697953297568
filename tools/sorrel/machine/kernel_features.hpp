//! KernelFeatures - features of kernel and processor that the runtime uses, each found by trying
//! it.
#pragma once

namespace sorrel::tool {

struct KernelFeatures {
  bool futex = false;          ///< workers sleep on it
  bool membarrier = false;     ///< private expedited: parking without a fence on the sender's path
  bool fsgsbase = false;       ///< cheap switch of thread-local storage
  bool guard_install = false;  ///< guard pages that take no memory map (MADV_GUARD_INSTALL)
};

[[nodiscard]] KernelFeatures read_kernel_features();

/// Whether processes that `run` starts may read each other's memory. Starts two processes to find
/// out.
[[nodiscard]] bool can_read_peer_memory();

}  // namespace sorrel::tool
