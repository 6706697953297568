//! dladdr, dlsym, dlopen and related functions for ranks: an address in a rank's image belongs to
//! the executable, and a symbol of the executable is the one in the rank's image. A library of
//! which each rank of a process would need its own instance is not opened.
//!
//! Any thread. Needed by back-trace printers, and by programs that look up their own functions by
//! name (plug-ins).

#include <cstdio>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "program/base/libc.hpp"
#include "program/image/image_slab.hpp"
#include "program/image/library_check.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program {

namespace {

// An image's module that holds an address.
struct Found {
  const Module* module = nullptr;
  /// From the template image; 0 if no image holds the address.
  std::uintptr_t distance = 0;
};

[[nodiscard]] Found find(const void* address) {
  const ImageSlab* slab = current_slab();
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  const int index = slab != nullptr ? slab->index_of(value) : -1;
  if (index < 0) return {};
  const PrivatizedImage copy = slab->copy(index);
  const Module* module = copy.module_at(value);
  if (module == nullptr) return {};
  return {module, copy.base_of(*module) - module->base};
}

[[nodiscard]] std::uintptr_t distance_from_template(const void* address) {
  return find(address).distance;
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
  const ImageSlab* slab = current_slab();
  if (slab == nullptr || !slab->image().contains(reinterpret_cast<std::uintptr_t>(symbol))) {
    return symbol;
  }
  const RankProcess* process = current_rank_process();
  return process != nullptr ? process->copy().counterpart(static_cast<char*>(symbol)) : symbol;
}

// The loader does not know what follows a privatized image: the definition in the first module
// behind the caller's that has one. Behind the executable, this library is the first relevant one.
void* next_of_copy(const Module& caller, const char* name) {
  if (caller.shift == 0) return loader_dlsym()(this_library(), name);
  const link_map* map = _r_debug.r_map;
  while (map != nullptr && map->l_addr != caller.base)
    map = map->l_next;
  while (map != nullptr && (map = map->l_next) != nullptr) {
    static auto* const open = next_definition<decltype(::dlopen)>("dlopen");
    static auto* const address_info = next_definition<decltype(::dladdr1)>("dladdr1");
    void* handle = *map->l_name != '\0' ? open(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (handle == nullptr) continue;
    void* found = loader_dlsym()(handle, name);
    ::dlclose(handle);
    Dl_info info{};
    void* owner = nullptr;
    // A handle also stands for what the library needs.
    if (found != nullptr && address_info(found, &info, &owner, RTLD_DL_LINKMAP) != 0 &&
        owner == map)
      return found;
  }
  return nullptr;
}

// The process of a rank with a privatized image, which a library that it opens would not use.
RankProcess* process_with_copy() {
  RankProcess* process = current_rank_process();
  return process != nullptr && !process->copy().is_template() ? process : nullptr;
}

// Reports the reason on standard error, once for each library, and records it for dlerror().
void* fail_open(RankProcess& process, const char* name, const std::string& reason) {
  static std::mutex mutex;
  static std::set<std::string>& reported = *new std::set<std::string>;
  // Clears the errors that the search for the library has left.
  (void)::dlerror();
  LoaderError& error = process.libc_state().loader_error();
  error.text = std::string(name) + " is not opened: " + reason +
               "; run with --procs N: a process for each of N ranks";
  error.is_pending = true;
  const std::lock_guard lock(mutex);
  if (reported.insert(name).second)
    std::fprintf(stderr, "sorrel: dlopen: %s\n", error.text.c_str());
  return nullptr;
}

using OpenFile = void*(const char* name, int flags);

template <class Open>
void* open_for_rank(
    RankProcess& process, const char* name, int flags, const void* caller, Open open) {
  if (void* loaded = open(name, flags | RTLD_NOLOAD)) return loaded;
  const OpenDecision decision = check_open(name, caller);
  if (!decision.reason.empty()) return fail_open(process, name, decision.reason);
  void* handle = open(decision.path.empty() ? name : decision.path.c_str(), flags);
  link_map* file = nullptr;
  if (handle == nullptr || !decision.path.empty() ||
      ::dlinfo(handle, RTLD_DI_LINKMAP, &file) != 0 || file->l_name == nullptr)
    return handle;
  const std::string reason = open_error(file->l_name);
  if (reason.empty()) return handle;
  ::dlclose(handle);
  return fail_open(process, name, reason);
}

[[nodiscard]] bool is_free_to_open(const char* name, int flags, const void* caller) {
  return process_with_copy() == nullptr || name == nullptr || *name == '\0' ||
         (flags & RTLD_NOLOAD) != 0 || is_of_host(caller);
}

}  // namespace

}  // namespace sorrel::program

SORREL_INTERPOSED int dladdr(const void* address, Dl_info* info) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::dladdr)>("dladdr");
  const std::uintptr_t distance = distance_from_template(address);
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
  const std::uintptr_t distance = distance_from_template(address);
  const int found = real(shifted(address, -distance), info, extra, flags);
  if (found != 0 && distance != 0) shift(*info, distance);
  return found;
}

// The loader interprets RTLD_NEXT by the return address. The call must therefore be a jump, which
// it is in optimised code.
SORREL_INTERPOSED [[gnu::optimize("O2"), gnu::no_sanitize("address", "thread", "undefined")]] void*
dlsym(void* handle, const char* name) noexcept {
  using namespace sorrel::program;
  if (handle == RTLD_NEXT) {
    const Found caller = find(__builtin_return_address(0));
    if (caller.module != nullptr) return of_this_rank(next_of_copy(*caller.module, name));
    return loader_dlsym()(handle, name);
  }
  return of_this_rank(loader_dlsym()(handle, name));
}

// The loader searches by the path of the calling library, so this call must be a jump, too.
SORREL_INTERPOSED [[gnu::optimize("O2"), gnu::no_sanitize("address", "thread", "undefined")]] void*
dlopen(const char* name, int flags) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<OpenFile>("dlopen");
  const void* caller = __builtin_return_address(0);
  if (is_free_to_open(name, flags, caller)) return real(name, flags);
  return open_for_rank(*process_with_copy(), name, flags, caller, real);
}

SORREL_INTERPOSED [[gnu::optimize("O2"), gnu::no_sanitize("address", "thread", "undefined")]] void*
dlmopen(Lmid_t space, const char* name, int flags) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::dlmopen)>("dlmopen");
  const void* caller = __builtin_return_address(0);
  if (is_free_to_open(name, flags, caller)) return real(space, name, flags);
  return open_for_rank(*process_with_copy(), name, flags, caller,
                       [space](const char* file, int how) { return real(space, file, how); });
}

SORREL_INTERPOSED char* dlerror() noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::dlerror)>("dlerror");
  if (RankProcess* process = process_with_copy()) {
    LoaderError& error = process->libc_state().loader_error();
    if (std::exchange(error.is_pending, false)) return error.text.data();
  }
  return real();
}
