//! Finds the libraries of a device's driver among those that the loader has loaded.
#pragma once

namespace sorrel::program {

/// Records where the loaded libraries of device drivers lie (program/base/driver_code.hpp). Any
/// thread; again after a call that may have loaded some.
void record_driver_libraries();

}  // namespace sorrel::program
