//! Allocators of OpenMP programs: omp_init_allocator(), omp_alloc() and their kind.
//!
//! There is one kind of memory. Alignment, pool size and fallback of an allocator have their
//! effect; access, contention and partition are hints; pinned memory is not supported. Each block
//! has a header, so that it can be freed without its allocator. Any thread; lock-free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sorrel::omp {

/// omp_alloctrait_t.
struct AllocatorTrait {
  int key;
  std::uintptr_t value;
};

/// omp_allocator_handle_t: a predefined allocator's number, or a pointer to one that was made.
using AllocatorHandle = std::uintptr_t;
inline constexpr AllocatorHandle null_allocator = 0;
inline constexpr AllocatorHandle default_allocator = 1;

/// null_allocator if a trait is invalid or not supported.
[[nodiscard]] AllocatorHandle make_allocator(std::uintptr_t space,
                                             std::span<const AllocatorTrait> traits);
void destroy_allocator(AllocatorHandle allocator);

struct MemoryRequest {
  std::size_t bytes = 0;
  std::size_t alignment = 1;
  AllocatorHandle allocator = default_allocator;  ///< not null
  bool is_zeroed = false;
};

/// Null if there is no such memory, or for 0 bytes.
[[nodiscard]] void* allocate(const MemoryRequest& request);

/// A block with the contents of `memory`, which is freed on success only. Null `allocator`: that of
/// `memory`.
[[nodiscard]] void* reallocate(void* memory, std::size_t bytes, AllocatorHandle allocator);

/// `memory` may be null.
void deallocate(void* memory);

/// Records that an allocatable variable of Fortran has memory of allocate().
void add_allocatable(const void* memory);

/// Whether it is recorded; afterwards it is not.
[[nodiscard]] bool take_allocatable(const void* memory);

}  // namespace sorrel::omp
