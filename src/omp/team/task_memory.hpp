//! TaskMemory - blocks of memory for tasks, kept by the thread that frees them.
//!
//! Own thread only.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::omp {

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
