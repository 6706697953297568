//! TaskMemory - blocks of memory for tasks, kept by the thread that frees them. Own thread only.
//!
//! Also memory at large, from the C library: the compiler's calls cannot fail, so the process ends
//! with a message if there is none, as GCC's library does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::omp {

/// Freed by std::free(). `alignment`: a power of two. Any thread.
[[nodiscard]] void* aligned_memory(std::size_t alignment, std::size_t bytes);

class TaskMemory {
 public:
  ~TaskMemory();
  void* take(std::size_t bytes);
  void give(void* block, std::size_t bytes);

 private:
  static constexpr std::size_t block_bytes = 512;
  static constexpr std::uint32_t kept_max = 512;

  struct Block {
    Block* next;
  };

  Block* first_ = nullptr;
  std::uint32_t kept_ = 0;
};

}  // namespace sorrel::omp
