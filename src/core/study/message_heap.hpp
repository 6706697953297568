//! The heap of a measuring build for buffers of unexpected messages, in place of a worker's own
//! list of free buffers.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <mutex>

#include "core/study/steps.hpp"

namespace sorrel::core::study {

inline std::mutex message_heap_mutex;

/// The lock of all workers, where the step has one.
[[nodiscard]] inline std::unique_lock<std::mutex> lock_message_heap() {
  if (steps.heap == Heap::locked) return std::unique_lock(message_heap_mutex);
  return {};
}

[[nodiscard]] inline void* take_from_heap(std::size_t bytes) {
  const auto lock = lock_message_heap();
  return std::malloc(bytes);
}

inline void give_to_heap(void* buffer) {
  const auto lock = lock_message_heap();
  std::free(buffer);
}

}  // namespace sorrel::core::study
