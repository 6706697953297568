//! malloc and its family: code of a rank, on the rank's stack, gets memory of the rank's own heap;
//! every other caller, the C library and this one among them, gets it of the C library's. Blocks
//! are freed where they came from, by their address.

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <malloc.h>

#include "arch/stack_pointer.hpp"
#include "os/page_bytes.hpp"
#include "program/base/libc.hpp"
#include "program/heap/rank_heaps.hpp"
#include "program/heap/system_allocator.hpp"

namespace sorrel::program {

namespace {

using heap::RegionHeap;

/// The heap for a call of malloc that returns to `caller`; null: the system's.
[[gnu::always_inline]] inline RegionHeap* heap_for(const void* caller) {
  const RankHeaps& heaps = rank_heaps();
  const std::uint64_t index = heaps.index_of_stack(arch::stack_pointer());
  return index < heaps.count() && heaps.is_code_of_rank(caller) ? &heaps.heap_of(index) : nullptr;
}

/// The heap that the code on this stack owns, or null.
[[gnu::always_inline]] inline RegionHeap* own_heap() {
  const RankHeaps& heaps = rank_heaps();
  const std::uint64_t index = heaps.index_of_stack(arch::stack_pointer());
  return index < heaps.count() ? &heaps.heap_of(index) : nullptr;
}

/// The heap that a block is of; null: the system's.
[[gnu::always_inline]] inline RegionHeap* heap_of_block(const void* payload) {
  const RankHeaps& heaps = rank_heaps();
  return heaps.contains(payload) ? &heaps.heap_of(heaps.owner_of(payload)) : nullptr;
}

void start_if_new(RegionHeap& heap) {
  if (!heap.is_started()) rank_heaps().start(heap);
}

[[gnu::noinline]] void* allocate_in_system(std::size_t bytes) {
  return system_allocator().malloc(bytes);
}

/// A full heap is no error: the system's takes over.
[[gnu::noinline]] void* allocate_slow(RegionHeap& heap, std::size_t bytes) {
  void* payload = heap.allocate(bytes);
  if (payload != nullptr) return payload;
  if (!heap.is_started()) {
    rank_heaps().start(heap);
    payload = heap.allocate(bytes);
  }
  return payload != nullptr ? payload : allocate_in_system(bytes);
}

[[gnu::always_inline]] inline void* allocate(RegionHeap* heap, std::size_t bytes) {
  if (heap == nullptr) return allocate_in_system(bytes);
  void* payload = heap->allocate_cached(bytes);
  return payload != nullptr ? payload : allocate_slow(*heap, bytes);
}

void* allocate_zeroed(RegionHeap* heap, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (heap == nullptr || __builtin_mul_overflow(count, size, &bytes))
    return system_allocator().calloc(count, size);
  if (void* payload = heap->allocate_cached(bytes)) return std::memset(payload, 0, bytes);
  start_if_new(*heap);
  void* payload = heap->allocate_zeroed(bytes);
  return payload != nullptr ? payload : system_allocator().calloc(count, size);
}

void* allocate_aligned(RegionHeap* heap, std::size_t alignment, std::size_t bytes) {
  // The C library accepts other numbers, and rounds them up.
  if (heap == nullptr || !std::has_single_bit(alignment))
    return system_allocator().memalign(alignment, bytes);
  start_if_new(*heap);
  void* payload = heap->allocate_aligned(alignment, bytes);
  return payload != nullptr ? payload : system_allocator().memalign(alignment, bytes);
}

[[gnu::noinline]] void release_in_system(void* payload) {
  system_allocator().free(payload);
}

[[gnu::noinline]] void release_remotely(RegionHeap& heap, void* payload) {
  heap.release_remotely(payload);
}

/// Null is in no region, and the system's function takes it.
[[gnu::always_inline]] inline void release(void* payload) {
  const RankHeaps& heaps = rank_heaps();
  if (!heaps.contains(payload)) {
    release_in_system(payload);
    return;
  }
  const std::uint64_t owner = heaps.owner_of(payload);
  RegionHeap& heap = heaps.heap_of(owner);
  if (owner == heaps.index_of_stack(arch::stack_pointer())) {
    heap.release(payload);
  } else {
    release_remotely(heap, payload);
  }
}

/// `heap`: where a call of malloc would allocate.
void* reallocate(RegionHeap* heap, void* payload, std::size_t bytes) {
  if (payload == nullptr) return allocate(heap, bytes);
  RegionHeap* owner = heap_of_block(payload);
  if (owner == nullptr) return system_allocator().realloc(payload, bytes);
  const std::size_t old_bytes = owner->usable_bytes(payload);
  if (bytes == 0) {
    release(payload);
    return nullptr;
  }
  const bool is_own = owner == own_heap();
  if (is_own && owner->resize(payload, bytes)) return payload;
  void* moved = allocate(is_own ? owner : heap, bytes);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, payload, std::min(old_bytes, bytes));
  release(payload);
  return moved;
}

}  // namespace

}  // namespace sorrel::program

using namespace sorrel::program;

SORREL_INTERPOSED void* malloc(std::size_t bytes) noexcept {
  return allocate(heap_for(__builtin_return_address(0)), bytes);
}

SORREL_INTERPOSED void free(void* payload) noexcept {
  release(payload);
}

SORREL_INTERPOSED void cfree(void* payload) noexcept {
  release(payload);
}

// C23.
SORREL_INTERPOSED void free_sized(void* payload, std::size_t) noexcept {
  release(payload);
}

SORREL_INTERPOSED void free_aligned_sized(void* payload, std::size_t, std::size_t) noexcept {
  release(payload);
}

SORREL_INTERPOSED void* calloc(std::size_t count, std::size_t size) noexcept {
  return allocate_zeroed(heap_for(__builtin_return_address(0)), count, size);
}

SORREL_INTERPOSED void* realloc(void* payload, std::size_t bytes) noexcept {
  return reallocate(heap_for(__builtin_return_address(0)), payload, bytes);
}

SORREL_INTERPOSED void* reallocarray(void* payload, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return reallocate(heap_for(__builtin_return_address(0)), payload, bytes);
}

SORREL_INTERPOSED void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return allocate_aligned(heap_for(__builtin_return_address(0)), alignment, bytes);
}

SORREL_INTERPOSED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  RegionHeap* heap = heap_for(__builtin_return_address(0));
  if (heap == nullptr) return system_allocator().aligned_alloc(alignment, bytes);
  return allocate_aligned(heap, alignment, bytes);
}

SORREL_INTERPOSED int posix_memalign(void** result,
                                     std::size_t alignment,
                                     std::size_t bytes) noexcept {
  RegionHeap* heap = heap_for(__builtin_return_address(0));
  const bool is_valid = std::has_single_bit(alignment) && alignment % sizeof(void*) == 0;
  if (heap == nullptr || !is_valid)
    return system_allocator().posix_memalign(result, alignment, bytes);
  const int saved_errno = errno;
  void* payload = allocate_aligned(heap, alignment, bytes);
  errno = saved_errno;
  if (payload == nullptr) return ENOMEM;
  *result = payload;
  return 0;
}

SORREL_INTERPOSED void* valloc(std::size_t bytes) noexcept {
  RegionHeap* heap = heap_for(__builtin_return_address(0));
  if (heap == nullptr) return system_allocator().valloc(bytes);
  return allocate_aligned(heap, sorrel::os::page_bytes(), bytes);
}

SORREL_INTERPOSED void* pvalloc(std::size_t bytes) noexcept {
  RegionHeap* heap = heap_for(__builtin_return_address(0));
  const std::size_t page = sorrel::os::page_bytes();
  std::size_t rounded = 0;
  if (heap == nullptr || __builtin_add_overflow(bytes, page - 1, &rounded))
    return system_allocator().pvalloc(bytes);
  return allocate_aligned(heap, page, rounded / page * page);
}

SORREL_INTERPOSED std::size_t malloc_usable_size(void* payload) noexcept {
  RegionHeap* heap = heap_of_block(payload);
  return heap == nullptr ? system_allocator().malloc_usable_size(payload)
                         : heap->usable_bytes(payload);
}

SORREL_INTERPOSED int malloc_trim(std::size_t kept_bytes) noexcept {
  RegionHeap* heap = own_heap();
  if (heap != nullptr) heap->trim();
  return system_allocator().malloc_trim(kept_bytes) | (heap != nullptr ? 1 : 0);
}
