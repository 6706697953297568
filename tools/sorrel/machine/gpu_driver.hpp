//! GpuDriver - the driver of this machine's GPUs, as `sorrel info` finds it: CUDA's, libcuda.so.1.
//!
//! Opens the driver's library and initializes it, which takes a part of a second where there is a
//! device. Needs nothing of CUDA to be compiled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sorrel::tool {

struct GpuDevice {
  std::string name;
  std::uint64_t memory_bytes = 0;
};

struct GpuDriver {
  std::string path;   ///< of the library; "": none
  int version = 0;    ///< 13020 is 13.2; 0: unknown
  std::string error;  ///< why no device can be used, or ""
  std::vector<GpuDevice> devices;

  /// "13.2"; "" if it is not known.
  [[nodiscard]] std::string version_text() const;
};

[[nodiscard]] GpuDriver find_gpu_driver();

/// Lines for a user; at least one.
[[nodiscard]] std::vector<std::string> describe(const GpuDriver& driver);

}  // namespace sorrel::tool
