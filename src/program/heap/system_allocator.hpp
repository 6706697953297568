//! SystemAllocator - the functions that malloc and its family would be without this library: the C
//! library's, or those of an allocator that is loaded as a shared library.
//!
//! Any thread. They are looked up at the first call, which the loader makes before any thread
//! exists. The look-up allocates nothing, or by the C library's functions.
#pragma once

#include <cstddef>

namespace sorrel::program {

struct SystemAllocator {
  void* (*malloc)(std::size_t);
  void* (*calloc)(std::size_t, std::size_t);
  void* (*realloc)(void*, std::size_t);
  void (*free)(void*);
  void* (*aligned_alloc)(std::size_t, std::size_t);
  void* (*memalign)(std::size_t, std::size_t);
  int (*posix_memalign)(void**, std::size_t, std::size_t);
  void* (*valloc)(std::size_t);
  void* (*pvalloc)(std::size_t);
  std::size_t (*malloc_usable_size)(void*);
  int (*malloc_trim)(std::size_t);

  /// Whether they are the C library's.
  bool is_of_libc;
  /// Whether malloc means this library's function for all code of the process.
  bool is_interposed;
};

[[nodiscard]] const SystemAllocator& system_allocator();

}  // namespace sorrel::program
