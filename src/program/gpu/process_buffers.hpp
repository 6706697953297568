//! Buffers in the memory of devices where the process is one rank, and the driver's calls are not
//! taken: the driver is asked where an address lies.
#pragma once

namespace sorrel::program::gpu {

/// Before the program begins, in process mode, and after device::set_support(): buffers are looked
/// for when a driver's library is there, or the program opens it.
void give_process_buffers();

}  // namespace sorrel::program::gpu
