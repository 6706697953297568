#include "program/heap/system_allocator.hpp"

#include "program/base/libc.hpp"

// What every glibc calls its own allocator.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void __libc_free(void* block);
}

namespace sorrel::program {

namespace {

// No static local: its guard may not be initialised when the loader calls.
SystemAllocator found;

template <class Function>
void look_up(Function*& function, const char* name) {
  function = reinterpret_cast<Function*>(libc_function(name));
}

void look_up_all() {
  // Before glibc 2.34 the look-up allocates memory for a message.
  found.calloc = __libc_calloc;
  found.realloc = __libc_realloc;
  found.free = __libc_free;
  found.malloc = __libc_malloc;
  look_up(found.calloc, "calloc");
  look_up(found.realloc, "realloc");
  look_up(found.free, "free");
  look_up(found.aligned_alloc, "aligned_alloc");
  look_up(found.memalign, "memalign");
  look_up(found.posix_memalign, "posix_memalign");
  look_up(found.valloc, "valloc");
  look_up(found.pvalloc, "pvalloc");
  look_up(found.malloc_usable_size, "malloc_usable_size");
  look_up(found.malloc_trim, "malloc_trim");
  void* malloc = libc_function("malloc");
  found.is_of_libc = malloc == libc_function("__libc_malloc");
  found.is_interposed = is_of_this_library(loader_dlsym()(RTLD_DEFAULT, "malloc"));
  found.malloc = reinterpret_cast<void* (*)(std::size_t)>(malloc);
}

}  // namespace

const SystemAllocator& system_allocator() {
  if (found.malloc == nullptr) [[unlikely]]
    look_up_all();
  return found;
}

}  // namespace sorrel::program
