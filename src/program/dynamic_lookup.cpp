//! dladdr, dlsym and their kin, as a rank expects them: an address in its copy belongs to the
//! executable, and a symbol of the executable is the copy's.
//!
//! Any thread. Back-trace printers and programs that look up their own functions by name (plug-ins)
//! need it.

#include <dlfcn.h>

#include "program/copy_slab.hpp"
#include "program/libc.hpp"
#include "program/rank_process.hpp"

namespace sorrel::program {

namespace {

// The distance between the copy that holds `address` and the mould; 0 for any other address.
[[nodiscard]] std::uintptr_t distance_from_mould(const void* address) {
  const CopySlab* slab = current_slab();
  const int index =
      slab != nullptr ? slab->index_of(reinterpret_cast<std::uintptr_t>(address)) : -1;
  return index < 0 ? 0 : slab->copy(index).base() - slab->image().base();
}

void* shifted(const void* pointer, std::uintptr_t distance) {
  return pointer == nullptr
             ? nullptr
             : reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(pointer) + distance);
}

void shift(Dl_info& info, std::uintptr_t distance) {
  info.dli_fbase = shifted(info.dli_fbase, distance);
  info.dli_saddr = shifted(info.dli_saddr, distance);
}

void* of_this_rank(void* symbol) {
  const CopySlab* slab = current_slab();
  if (slab == nullptr || !slab->image().contains(reinterpret_cast<std::uintptr_t>(symbol))) {
    return symbol;
  }
  const RankProcess* process = current_rank_process();
  return process != nullptr ? process->copy().counterpart(static_cast<char*>(symbol)) : symbol;
}

// The loader does not know what follows a copy. This library is the first behind the executable
// that matters, then come its own dependencies.
void* next_of_copy(const char* name) {
  static void* const self = [] {
    static const char anchor = 0;
    Dl_info info{};
    next_definition<decltype(::dladdr)>("dladdr")(&anchor, &info);
    return ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  }();
  return loader_dlsym()(self, name);
}

}  // namespace

}  // namespace sorrel::program

SORREL_INTERPOSED int dladdr(const void* address, Dl_info* info) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::dladdr)>("dladdr");
  const std::uintptr_t distance = distance_from_mould(address);
  const int found = real(shifted(address, -distance), info);
  if (found != 0 && distance != 0) shift(*info, distance);
  return found;
}

SORREL_INTERPOSED int dladdr1(const void* address,
                              Dl_info* info,
                              void** extra,
                              int flags) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::dladdr1)>("dladdr1");
  const std::uintptr_t distance = distance_from_mould(address);
  const int found = real(shifted(address, -distance), info, extra, flags);
  if (found != 0 && distance != 0) shift(*info, distance);
  return found;
}

// The loader judges RTLD_NEXT by the return address, so that call must be a jump, which optimised
// code makes of it.
SORREL_INTERPOSED [[gnu::optimize("O2"), gnu::no_sanitize("address", "thread", "undefined")]] void*
dlsym(void* handle, const char* name) noexcept {
  using namespace sorrel::program;
  if (handle == RTLD_NEXT && distance_from_mould(__builtin_return_address(0)) != 0)
    return next_of_copy(name);
  if (handle == RTLD_NEXT) return loader_dlsym()(handle, name);
  return of_this_rank(loader_dlsym()(handle, name));
}
