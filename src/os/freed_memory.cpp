#include "os/freed_memory.hpp"

#include <cstdlib>
#include <malloc.h>
#include <string_view>

namespace sorrel::os {

bool has_allocator_setting(const VariableLookup& lookup) {
  for (const char* name : {"MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_THRESHOLD_",
                           "MALLOC_MMAP_MAX_"}) {
    if (lookup(name) != nullptr) return true;
  }
  const char* tunables = lookup("GLIBC_TUNABLES");
  return tunables != nullptr &&
         std::string_view(tunables).find("glibc.malloc.") != std::string_view::npos;
}

void keep_freed_memory() {
  if (has_allocator_setting([](const char* name) -> const char* { return ::secure_getenv(name); }))
    return;
  // Larger blocks get their own mapping: 32 MiB is the maximum of the C library.
  constexpr int mapped_bytes_min = 32 << 20;
  // A heap returns memory when this much at its end is free...
  constexpr int kept_bytes = 256 << 20;
  // ...and keeps, or allocates in advance, this much. The default is 0.1 MiB.
  constexpr int spare_bytes = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, mapped_bytes_min);
  mallopt(M_TRIM_THRESHOLD, kept_bytes);
  mallopt(M_TOP_PAD, spare_bytes);
}

}  // namespace sorrel::os
