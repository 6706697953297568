//! Numbers of devices: there is only the host.
#pragma once

namespace sorrel::omp {

/// omp_initial_device, or the number of devices, which is 0.
[[nodiscard]] constexpr bool is_host(int device) {
  return device == 0 || device == -1;
}

}  // namespace sorrel::omp
