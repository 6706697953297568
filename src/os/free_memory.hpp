//! free_memory - how much memory programs can still get: of the machine, and of the control groups
//! of this process.
#pragma once

#include <cstdint>
#include <string>

namespace sorrel::os {

struct FreeMemory {
  std::uint64_t bytes = 0;
  /// With what is in use.
  std::uint64_t all_bytes = 0;
};

/// Nothing of it is reserved. What is not known counts as free. `root` is a prefix for every path
/// read ("" for the machine).
[[nodiscard]] FreeMemory free_memory(const std::string& root = "");

}  // namespace sorrel::os
