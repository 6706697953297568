#include "omp/team/task_memory.hpp"

#include <cstdlib>
#include <new>

#include "base/cache_line.hpp"

namespace sorrel::omp {

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
  const std::size_t size = bytes <= block_bytes ? block_bytes : bytes;
  return std::aligned_alloc(cache_line_bytes,
                            (size + cache_line_bytes - 1) / cache_line_bytes * cache_line_bytes);
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
