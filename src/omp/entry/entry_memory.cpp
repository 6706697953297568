// omp_alloc and its kind, GOMP_alloc; no logic.
#include <limits>

#include "omp/entry/entry_point.hpp"
#include "omp/region/allocator.hpp"
#include "omp/region/native_thread.hpp"

namespace {

using namespace sorrel::omp;

AllocatorHandle resolve(AllocatorHandle allocator) {
  return allocator == null_allocator ? this_thread().allocator : allocator;
}

void* take(std::size_t alignment, std::size_t bytes, AllocatorHandle allocator) {
  return allocate({.bytes = bytes, .alignment = alignment, .allocator = resolve(allocator)});
}

void* take_zeroed(std::size_t alignment,
                  std::size_t count,
                  std::size_t bytes,
                  AllocatorHandle allocator) {
  if (bytes != 0 && count > std::numeric_limits<std::size_t>::max() / bytes) return nullptr;
  return allocate({.bytes = count * bytes,
                   .alignment = alignment,
                   .allocator = resolve(allocator),
                   .is_zeroed = true});
}

}  // namespace

SORREL_ENTRY_POINT AllocatorHandle omp_init_allocator(std::uintptr_t space,
                                                      int count,
                                                      const AllocatorTrait* traits) {
  return make_allocator(space, {traits, static_cast<std::size_t>(count < 0 ? 0 : count)});
}

SORREL_ENTRY_POINT void omp_destroy_allocator(AllocatorHandle allocator) {
  destroy_allocator(allocator);
}

SORREL_ENTRY_POINT void omp_set_default_allocator(AllocatorHandle allocator) {
  this_thread().allocator = allocator == null_allocator ? default_allocator : allocator;
}

SORREL_ENTRY_POINT AllocatorHandle omp_get_default_allocator() {
  return this_thread().allocator;
}

SORREL_ENTRY_POINT void* omp_alloc(std::size_t bytes, AllocatorHandle allocator) {
  return take(1, bytes, allocator);
}

SORREL_ENTRY_POINT void* omp_aligned_alloc(std::size_t alignment,
                                           std::size_t bytes,
                                           AllocatorHandle allocator) {
  return take(alignment, bytes, allocator);
}

SORREL_ENTRY_POINT void* omp_calloc(std::size_t count,
                                    std::size_t bytes,
                                    AllocatorHandle allocator) {
  return take_zeroed(1, count, bytes, allocator);
}

SORREL_ENTRY_POINT void* omp_aligned_calloc(std::size_t alignment,
                                            std::size_t count,
                                            std::size_t bytes,
                                            AllocatorHandle allocator) {
  return take_zeroed(alignment, count, bytes, allocator);
}

SORREL_ENTRY_POINT void* omp_realloc(void* memory,
                                     std::size_t bytes,
                                     AllocatorHandle allocator,
                                     AllocatorHandle free_allocator) {
  if (memory == nullptr) return take(1, bytes, allocator);
  if (bytes != 0)
    return reallocate(memory, bytes, allocator == null_allocator ? free_allocator : allocator);
  deallocate(memory);
  return nullptr;
}

SORREL_ENTRY_POINT void omp_free(void* memory, AllocatorHandle) {
  deallocate(memory);
}

SORREL_ENTRY_POINT void* GOMP_alloc(std::size_t alignment,
                                    std::size_t bytes,
                                    AllocatorHandle allocator) {
  return take(alignment, bytes, allocator);
}

SORREL_ENTRY_POINT void GOMP_free(void* memory, AllocatorHandle) {
  deallocate(memory);
}

// GCC 14: where an allocatable variable is deallocated, the program asks whose memory it has.
SORREL_ENTRY_POINT void GOMP_add_alloc(void* memory) {
  add_allocatable(memory);
}

SORREL_ENTRY_POINT bool GOMP_is_alloc(void* memory) {
  return take_allocatable(memory);
}
