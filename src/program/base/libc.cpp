#include "program/base/libc.hpp"

#include "program/base/program_calls.hpp"

// The linker's symbols for the begin and the end of this library in memory.
extern "C" {
[[gnu::visibility("hidden")]] extern const char __ehdr_start[];
[[gnu::visibility("hidden")]] extern const char _end[];
}

namespace sorrel::program {

bool is_of_this_library(const void* code) {
  return code >= __ehdr_start && code < _end && !is_program_call(code);
}

decltype(&::dlsym) loader_dlsym() {
  // dlvsym is not interposed, and since glibc 2.34 dlsym has this version on every architecture.
  static auto* const found =
      reinterpret_cast<decltype(&::dlsym)>(::dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34"));
  return found;
}

void* this_library() {
  static void* const self = [] {
    static const char anchor = 0;
    Dl_info info{};
    next_definition<decltype(::dladdr)>("dladdr")(&anchor, &info);
    return next_definition<decltype(::dlopen)>("dlopen")(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return self;
}

void* libc_function(const char* name) {
  return loader_dlsym()(RTLD_NEXT, name);
}

}  // namespace sorrel::program
