//! The memory of ranks on GPUs, for the bindings of MPI (device/buffers.hpp).
#pragma once

namespace sorrel::program::gpu {

/// From now on the bindings look for buffers there. Any thread; without effect after the first
/// call.
void give_message_buffers();

}  // namespace sorrel::program::gpu
