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

namespace {

/// The loader's dlsym in a search order; nullptr if it is not there. dlvsym is not interposed, and
/// since glibc 2.34 dlsym has this version on every architecture.
decltype(&::dlsym) versioned_dlsym(void* order) {
  return reinterpret_cast<decltype(&::dlsym)>(::dlvsym(order, "dlsym", "GLIBC_2.34"));
}

/// The order that finds the C library. It precedes this library where MPI is needed by a library
/// of a program only; then nothing follows, and this library's functions replace none.
void* order_with_libc() {
  static void* const order = versioned_dlsym(RTLD_NEXT) != nullptr ? RTLD_NEXT : RTLD_DEFAULT;
  return order;
}

}  // namespace

decltype(&::dlsym) loader_dlsym() {
  static auto* const found = versioned_dlsym(order_with_libc());
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
  return loader_dlsym()(order_with_libc(), name);
}

}  // namespace sorrel::program
