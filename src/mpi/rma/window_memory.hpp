//! WindowMemory - memory that the library has allocated for a window.
//!
//! Owned by a window or by the view of one rank, and private to the process. For memory that
//! several processes map, see mapped_memory.hpp.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <utility>

namespace sorrel::mpi {

class WindowMemory {
 public:
  WindowMemory() = default;

  WindowMemory(WindowMemory&& other) noexcept : base_(std::exchange(other.base_, nullptr)) {}

  WindowMemory& operator=(WindowMemory&& other) noexcept {
    std::swap(base_, other.base_);
    return *this;
  }

  ~WindowMemory() { std::free(base_); }

  /// At least one byte, aligned to `alignment`, a power of two; base() is null if there is no
  /// memory.
  [[nodiscard]] static WindowMemory allocate(std::size_t bytes, std::size_t alignment) {
    WindowMemory memory;
    void* base = nullptr;
    if (::posix_memalign(&base, alignment, bytes == 0 ? 1 : bytes) == 0)
      memory.base_ = static_cast<std::byte*>(base);
    return memory;
  }

  [[nodiscard]] std::byte* base() const { return base_; }

 private:
  std::byte* base_ = nullptr;
};

}  // namespace sorrel::mpi
