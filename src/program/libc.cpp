#include "program/libc.hpp"

namespace sorrel::program {

decltype(&::dlsym) loader_dlsym() {
  // dlvsym is not interposed, and since glibc 2.34 dlsym has this version on every architecture.
  static auto* const found =
      reinterpret_cast<decltype(&::dlsym)>(::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"));
  return found;
}

void* libc_function(const char* name) {
  return loader_dlsym()(RTLD_NEXT, name);
}

}  // namespace sorrel::program
