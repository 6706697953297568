#include "omp/team/task_memory.hpp"

#include <cstdio>
#include <cstdlib>
#include <new>

#include "base/cache_line.hpp"

namespace sorrel::omp {

void* aligned_memory(std::size_t alignment, std::size_t bytes) {
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory != nullptr) [[likely]]
    return memory;
  std::fprintf(stderr, "sorrel: OpenMP: not enough memory for %zu bytes\n", bytes);
  std::exit(EXIT_FAILURE);
}

TaskMemory::~TaskMemory() {
  while (first_ != nullptr) {
    Block* next = first_->next;
    std::free(first_);
    first_ = next;
  }
}

void* TaskMemory::take(std::size_t bytes) {
  if (bytes <= block_bytes && first_ != nullptr) {
    Block* block = first_;
    first_ = block->next;
    --kept_;
    return block;
  }
  return aligned_memory(cache_line_bytes, bytes <= block_bytes ? block_bytes : bytes);
}

void TaskMemory::give(void* block, std::size_t bytes) {
  if (bytes > block_bytes || kept_ >= kept_max) {
    std::free(block);
    return;
  }
  first_ = new (block) Block{first_};
  ++kept_;
}

}  // namespace sorrel::omp
