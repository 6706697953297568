//! malloc and its family: code of a rank, on the rank's stack or in a thread that the rank has
//! started, gets memory of the rank's own heap; every other caller, the C library and this one
//! among them, gets it of the C library's. Blocks are freed where they came from, by their address.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <malloc.h>

#include "arch/stack_pointer.hpp"
#include "base/copy_bytes.hpp"
#include "os/page_bytes.hpp"
#include "program/base/libc.hpp"
#include "program/heap/heap_sharing.hpp"
#include "program/heap/rank_heaps.hpp"
#include "program/heap/system_allocator.hpp"

namespace sorrel::program {

namespace {

using heap::RegionHeap;

/// Where a call allocates. Without a heap: in the system's.
struct Place {
  RegionHeap* heap;
  /// On the rank's own stack; else in a thread of the rank.
  bool is_own;
};

/// The heap of the rank whose own stack this is, or null.
[[gnu::always_inline]] inline RegionHeap* own_heap() {
  const RankHeaps& heaps = rank_heaps();
  const std::uint64_t index = heaps.index_of_stack(arch::stack_pointer());
  return index < heaps.count() ? &heaps.heap_of(index) : nullptr;
}

/// The heap that this flow of control may change.
Place place_of_flow() {
  RegionHeap* heap = own_heap();
  return heap != nullptr ? Place{heap, true} : Place{heap_of_thread, false};
}

/// The place for a call that returns to `caller`.
Place place_for(const void* caller) {
  const RankHeaps& heaps = rank_heaps();
  const Place place = place_of_flow();
  if (place.heap == nullptr && !heaps.notes_calls_elsewhere()) return {};
  if (!heaps.is_code_of_rank(caller)) return {};
  if (place.heap == nullptr) heaps.note_call_elsewhere();
  return place;
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

/// A full heap is no error: the system's takes over, and has given `payload`.
[[gnu::noinline, gnu::cold]] void* note_overflow(const RegionHeap& heap, void* payload) {
  if (payload != nullptr)
    std::atomic_ref(rank_heaps().sharing_of(heap).has_overflowed)
        .store(1, std::memory_order_relaxed);
  return payload;
}

[[gnu::noinline]] void* allocate_in_shared(RegionHeap& heap, bool is_own, std::size_t bytes) {
  void* payload = nullptr;
  {
    const HeapLock lock(heap, is_own);
    start_if_new(heap);
    payload = heap.allocate(bytes);
  }
  return payload != nullptr ? payload : note_overflow(heap, allocate_in_system(bytes));
}

/// On the rank's own stack, alone.
[[gnu::noinline]] void* allocate_slow(RegionHeap& heap, std::size_t bytes) {
  void* payload = heap.allocate(bytes);
  if (payload != nullptr) return payload;
  if (!heap.is_started()) {
    rank_heaps().start(heap);
    payload = heap.allocate(bytes);
  }
  return payload != nullptr ? payload : note_overflow(heap, allocate_in_system(bytes));
}

[[gnu::always_inline]] inline void* allocate_own(RegionHeap& heap, std::size_t bytes) {
  if (heap.count_request()) [[unlikely]]
    return allocate_in_shared(heap, true, bytes);
  void* payload = heap.allocate_cached(bytes);
  return payload != nullptr ? payload : allocate_slow(heap, bytes);
}

void* allocate(Place place, std::size_t bytes) {
  if (place.heap == nullptr) return allocate_in_system(bytes);
  return place.is_own ? allocate_own(*place.heap, bytes)
                      : allocate_in_shared(*place.heap, false, bytes);
}

/// malloc that returns to `caller`, not on a rank's own stack.
[[gnu::noinline]] void* allocate_off_stack(std::size_t bytes, const void* caller) {
  const Place place = place_for(caller);
  return place.heap == nullptr ? allocate_in_system(bytes)
                               : allocate_in_shared(*place.heap, false, bytes);
}

void* allocate_zeroed(Place place, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (place.heap == nullptr || __builtin_mul_overflow(count, size, &bytes))
    return system_allocator().calloc(count, size);
  RegionHeap& heap = *place.heap;
  void* payload = nullptr;
  if (place.is_own && !heap.count_request()) payload = heap.allocate_cached(bytes);
  if (payload != nullptr) return std::memset(payload, 0, bytes);
  {
    const HeapLock lock(heap, place.is_own);
    start_if_new(heap);
    payload = heap.allocate_zeroed(bytes);
  }
  return payload != nullptr ? payload : note_overflow(heap, system_allocator().calloc(count, size));
}

void* allocate_aligned(Place place, std::size_t alignment, std::size_t bytes) {
  void* payload = nullptr;
  // The C library accepts other numbers, and rounds them up.
  if (place.heap != nullptr && std::has_single_bit(alignment)) {
    const HeapLock lock(*place.heap, place.is_own);
    start_if_new(*place.heap);
    payload = place.heap->allocate_aligned(alignment, bytes);
  }
  if (payload != nullptr) return payload;
  payload = system_allocator().memalign(alignment, bytes);
  return place.heap != nullptr ? note_overflow(*place.heap, payload) : payload;
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
  if (owner == heaps.index_of_stack(arch::stack_pointer()) && !heap.is_shared()) {
    heap.release(payload);
  } else {
    release_remotely(heap, payload);
  }
}

[[nodiscard]] bool resize(Place place, void* payload, std::size_t bytes) {
  const HeapLock lock(*place.heap, place.is_own);
  return place.heap->resize(payload, bytes);
}

/// `place`: where a call of malloc would allocate.
void* reallocate(Place place, void* payload, std::size_t bytes) {
  if (payload == nullptr) return allocate(place, bytes);
  RegionHeap* owner = heap_of_block(payload);
  if (owner == nullptr) return system_allocator().realloc(payload, bytes);
  const std::size_t old_bytes = owner->usable_bytes(payload);
  if (bytes == 0) {
    release(payload);
    return nullptr;
  }
  const Place own = place_of_flow();
  const bool may_change = owner == own.heap;
  if (may_change && resize(own, payload, bytes)) return payload;
  void* moved = allocate(may_change ? own : place, bytes);
  if (moved == nullptr) return nullptr;
  copy_bytes(moved, payload, std::min(old_bytes, bytes));
  release(payload);
  return moved;
}

}  // namespace

void* RankHeaps::allocate_for_rank(std::size_t alignment, std::size_t bytes) const {
  const Place place = place_of_flow();
  return place.heap == nullptr ? nullptr : allocate_aligned(place, alignment, bytes);
}

}  // namespace sorrel::program

using namespace sorrel::program;

SORREL_INTERPOSED void* malloc(std::size_t bytes) noexcept {
  const void* caller = __builtin_return_address(0);
  const RankHeaps& heaps = rank_heaps();
  const std::uint64_t index = heaps.index_of_stack(sorrel::arch::stack_pointer());
  if (index >= heaps.count()) return allocate_off_stack(bytes, caller);
  if (!heaps.is_code_of_rank(caller)) return allocate_in_system(bytes);
  return allocate_own(heaps.heap_of(index), bytes);
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
  return allocate_zeroed(place_for(__builtin_return_address(0)), count, size);
}

SORREL_INTERPOSED void* realloc(void* payload, std::size_t bytes) noexcept {
  return reallocate(place_for(__builtin_return_address(0)), payload, bytes);
}

SORREL_INTERPOSED void* reallocarray(void* payload, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  return reallocate(place_for(__builtin_return_address(0)), payload, bytes);
}

SORREL_INTERPOSED void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return allocate_aligned(place_for(__builtin_return_address(0)), alignment, bytes);
}

SORREL_INTERPOSED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  const Place place = place_for(__builtin_return_address(0));
  if (place.heap == nullptr) return system_allocator().aligned_alloc(alignment, bytes);
  return allocate_aligned(place, alignment, bytes);
}

SORREL_INTERPOSED int posix_memalign(void** result,
                                     std::size_t alignment,
                                     std::size_t bytes) noexcept {
  const Place place = place_for(__builtin_return_address(0));
  const bool is_valid = std::has_single_bit(alignment) && alignment % sizeof(void*) == 0;
  if (place.heap == nullptr || !is_valid)
    return system_allocator().posix_memalign(result, alignment, bytes);
  const int saved_errno = errno;
  void* payload = allocate_aligned(place, alignment, bytes);
  errno = saved_errno;
  if (payload == nullptr) return ENOMEM;
  *result = payload;
  return 0;
}

SORREL_INTERPOSED void* valloc(std::size_t bytes) noexcept {
  const Place place = place_for(__builtin_return_address(0));
  if (place.heap == nullptr) return system_allocator().valloc(bytes);
  return allocate_aligned(place, sorrel::os::page_bytes(), bytes);
}

SORREL_INTERPOSED void* pvalloc(std::size_t bytes) noexcept {
  const Place place = place_for(__builtin_return_address(0));
  const std::size_t page = sorrel::os::page_bytes();
  std::size_t rounded = 0;
  if (place.heap == nullptr || __builtin_add_overflow(bytes, page - 1, &rounded))
    return system_allocator().pvalloc(bytes);
  return allocate_aligned(place, page, rounded / page * page);
}

SORREL_INTERPOSED std::size_t malloc_usable_size(void* payload) noexcept {
  RegionHeap* heap = heap_of_block(payload);
  return heap == nullptr ? system_allocator().malloc_usable_size(payload)
                         : heap->usable_bytes(payload);
}

SORREL_INTERPOSED int malloc_trim(std::size_t kept_bytes) noexcept {
  const Place place = place_of_flow();
  if (place.heap != nullptr) {
    const HeapLock lock(*place.heap, place.is_own);
    place.heap->trim();
  }
  return system_allocator().malloc_trim(kept_bytes) | (place.heap != nullptr ? 1 : 0);
}
