#include "program/base/libc.hpp"

#include <atomic>
#include <string_view>

#include "arch/first_glibc.hpp"
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

// Constants that are computed twice rather than guarded: before glibc 2.34, dlvsym allocates memory
// in the first call of a thread, and the allocator looks for its functions here.
namespace {

/// glibc's own function in a search order; nullptr if it is not there. dlvsym is not interposed,
/// and no library but glibc has this version.
void* first_version(void* order, const char* name) {
  return ::dlvsym(order, name, arch::first_glibc);
}

/// Interposed functions of which glibc for x86-64 has an older version that does something else.
struct Changed {
  std::string_view name;
  const char* version;
};

constexpr Changed changed_functions[] = {
    {"lgamma", "GLIBC_2.23"},     {"lgammaf", "GLIBC_2.23"},       {"lgammal", "GLIBC_2.23"},
    {"lio_listio", "GLIBC_2.4"},  {"lio_listio64", "GLIBC_2.4"},   {"nftw", "GLIBC_2.3.3"},
    {"nftw64", "GLIBC_2.3.3"},    {"posix_spawn", "GLIBC_2.15"},   {"posix_spawnp", "GLIBC_2.15"},
    {"quick_exit", "GLIBC_2.24"}, {"timer_create", "GLIBC_2.3.3"}, {"timer_delete", "GLIBC_2.3.3"}};

/// The order that finds the C library. It precedes this library where MPI is needed by a library
/// of a program only; then nothing follows, and this library's functions replace none.
void* order_with_libc() {
  constexpr int unknown = 1;
  static std::atomic<int> order = unknown;
  // relaxed, here and below: every thread computes the same value, and nothing is read through it.
  if (order.load(std::memory_order_relaxed) == unknown)
    order.store(first_version(RTLD_NEXT, "__libc_start_main") != nullptr ? -1 : 0,
                std::memory_order_relaxed);
  return order.load(std::memory_order_relaxed) != 0 ? RTLD_NEXT : RTLD_DEFAULT;
}

}  // namespace

decltype(&::dlsym) loader_dlsym() {
  static std::atomic<void*> found = nullptr;
  if (found.load(std::memory_order_relaxed) == nullptr)
    found.store(first_version(RTLD_DEFAULT, "dlsym"), std::memory_order_relaxed);
  return reinterpret_cast<decltype(&::dlsym)>(found.load(std::memory_order_relaxed));
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
  void* const order = order_with_libc();
  void* found = loader_dlsym()(order, name);
  // Before glibc 2.36 RTLD_NEXT finds the oldest version.
  for (const Changed& changed : changed_functions) {
    if (changed.name != name || found != first_version(order, name)) continue;
    if (void* newer = ::dlvsym(order, name, changed.version)) found = newer;
  }
  return found;
}

}  // namespace sorrel::program
