#include "core/message_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "base/check.hpp"
#ifdef SORREL_STUDY
#include "core/study/message_heap.hpp"
#endif

namespace sorrel::core {

namespace {

// Small enough for programs with few messages, large enough that malloc is rare.
constexpr std::size_t slab_bytes = 65536;

}  // namespace

MessagePool::MessagePool(std::size_t bytes_max) : bytes_max_(bytes_max) {}

MessagePool::~MessagePool() {
  for (void* slab : slabs_)
    std::free(slab);
}

std::size_t MessagePool::class_of(std::size_t bytes) {
  const std::size_t rounded = std::bit_ceil(std::max(bytes, buffer_bytes_min));
  return static_cast<std::size_t>(std::countr_zero(rounded / buffer_bytes_min));
}

void MessagePool::note_use() {
  const bool congested = bytes_in_use_ >= bytes_max_;
  // Relaxed: a hint for senders. Written only on change, so that its cache line stays shared.
  if (congested != congested_.load(std::memory_order_relaxed))
    congested_.store(congested, std::memory_order_relaxed);
}

void* MessagePool::take(std::size_t bytes, WhenFull when_full) {
  SORREL_ASSERT(bytes <= buffer_bytes_max);
  const std::size_t size_class = class_of(bytes);
  const std::size_t size = buffer_bytes_min << size_class;
  if (when_full == WhenFull::fail && bytes_in_use_ + size > bytes_max_) return nullptr;
  void* buffer = take_free(size_class);
  if (buffer == nullptr) return nullptr;
  bytes_in_use_ += size;
  note_use();
  return buffer;
}

void MessagePool::pass_on(MessagePool& to, std::size_t bytes) {
  const std::size_t taken = buffer_bytes_min << class_of(bytes);
  SORREL_ASSERT(bytes_in_use_ >= taken);
  bytes_in_use_ -= taken;
  to.bytes_in_use_ += taken;
  note_use();
  to.note_use();
}

void MessagePool::give_back(void* buffer, std::size_t bytes) {
  const std::size_t size_class = class_of(bytes);
  SORREL_ASSERT(bytes_in_use_ >= buffer_bytes_min << size_class);
  give_free(buffer, size_class);
  bytes_in_use_ -= buffer_bytes_min << size_class;
  note_use();
}

void* MessagePool::take_free(std::size_t size_class) {
#ifdef SORREL_STUDY
  if (study::steps.heap != study::Heap::pool)
    return study::take_from_heap(buffer_bytes_min << size_class);
#endif
  FreeBuffer* buffer = free_[size_class];
  if (buffer == nullptr) return refill(size_class);
  free_[size_class] = buffer->next;
  return buffer;
}

void MessagePool::give_free(void* buffer, std::size_t size_class) {
#ifdef SORREL_STUDY
  if (study::steps.heap != study::Heap::pool) return study::give_to_heap(buffer);
#endif
  auto* freed = static_cast<FreeBuffer*>(buffer);
  SORREL_ASSERT(freed != free_[size_class], "given back twice");
  freed->next = free_[size_class];
  free_[size_class] = freed;
}

void* MessagePool::refill(std::size_t size_class) {
  const std::size_t size = buffer_bytes_min << size_class;
  auto* slab = static_cast<std::byte*>(std::malloc(slab_bytes));
  if (slab == nullptr) return nullptr;
  slabs_.push_back(slab);
  for (std::size_t offset = size; offset + size <= slab_bytes; offset += size) {
    auto* buffer = reinterpret_cast<FreeBuffer*>(slab + offset);
    buffer->next = free_[size_class];
    free_[size_class] = buffer;
  }
  return slab;
}

}  // namespace sorrel::core
