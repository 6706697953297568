//! dladdr, dlsym and related functions for ranks: an address in a rank's image belongs to the
//! executable or library of which it is the image, and a symbol of one is the one in the rank's
//! image.
//!
//! Any thread. Needed by back-trace printers, and by programs that look up their own functions by
//! name (plug-ins).

#include <dlfcn.h>
#include <link.h>
#include <string>

#include "program/base/libc.hpp"
#include "program/image/image_slab.hpp"
#include "program/image/opened_library.hpp"
#include "program/image/symbol_substitution.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/rank_symbol.hpp"
#include "program/rank/starter_of_thread.hpp"

namespace sorrel::program {

namespace {

// An image's module that holds an address.
struct Found {
  const Module* module = nullptr;
  /// Distance from the template image; 0 if no image holds the address.
  std::uintptr_t distance = 0;
};

[[nodiscard]] Found find(const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  const ImageSlab* slab = slab_at(value);
  if (slab == nullptr) return {};
  const PrivatizedImage copy = slab->copy(slab->index_of(value));
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

/// Where a library's own look-ups continue when the process has no such symbol: what the rank has
/// opened with RTLD_GLOBAL, and what has been loaded with the calling library.
void* look_up_in_opened(const char* name, const void* caller) {
  RankProcess* process = process_of_thread();
  if (process == nullptr) return nullptr;
  const RankLibraries::Lock lock(process->libraries());
  OpenedLibrary::Scope scope = process->libraries().globals();
  const Module* calling = find(caller).module;
  if (const OpenedLibrary* library =
          calling != nullptr ? opened_library_of(calling->base + calling->dynamic) : nullptr)
    scope.push_back(library);
  for (const OpenedLibrary* library : scope) {
    if (void* found = symbol_of_rank(loader_dlsym()(library->handle, name))) return found;
  }
  return nullptr;
}

/// What follows in the libraries loaded with an opened one, then what follows this library.
void* next_of_opened(const OpenedLibrary& caller, const char* name) {
  const OpenedLibrary::Scope group = group_of(caller);
  for (std::size_t i = 1; i < group.size(); ++i) {
    if (group[i]->module().definition(name) != nullptr)
      return loader_dlsym()(group[i]->handle, name);
  }
  return loader_dlsym()(this_library(), name);
}

// The loader does not know what follows a privatized image: the definition in the first module
// behind the caller's that has one. Behind the executable, this library is the first relevant one.
void* next_of_copy(const Module& caller, const char* name) {
  if (caller.shift == 0) return loader_dlsym()(this_library(), name);
  const link_map* map = _r_debug.r_map;
  while (map != nullptr && map->l_addr != caller.base)
    map = map->l_next;
  while (map != nullptr && (map = map->l_next) != nullptr) {
    static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
    static auto* const real_address_info = next_definition<decltype(::dladdr1)>("dladdr1");
    void* handle = *map->l_name != '\0' ? real_open(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    if (handle == nullptr) continue;
    void* found = loader_dlsym()(handle, name);
    ::dlclose(handle);
    Dl_info info{};
    void* owner = nullptr;
    // A handle also stands for what the library needs.
    if (found != nullptr && real_address_info(found, &info, &owner, RTLD_DL_LINKMAP) != 0 &&
        owner == map)
      return found;
  }
  return nullptr;
}

[[nodiscard]] bool is_global_scope(void* handle) {
  static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
  static void* const program = real_open(nullptr, RTLD_LAZY);
  return handle == RTLD_DEFAULT || handle == program;
}

[[gnu::noinline]] void* look_up(void* handle, const char* name, const void* caller) {
  // First: what succeeds after a look-up that has failed clears the error for dlerror().
  const bool is_global = is_global_scope(handle);
  void* found = symbol_of_rank(loader_dlsym()(handle, name));
  if (found != nullptr) return substituted(found, name);
  if (!is_global) return nullptr;
  found = look_up_in_opened(name, caller);
  return found != nullptr ? found : symbol_of_rank(loader_dlsym()(handle, name));
}

/// For a privatized image's code, which the loader does not know.
[[gnu::noinline]] void* next_of_image(const Module& caller, const char* name) {
  const OpenedLibrary* library = opened_library_of(caller.base + caller.dynamic);
  return symbol_of_rank(library != nullptr ? next_of_opened(*library, name)
                                           : next_of_copy(caller, name));
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
  const void* caller = __builtin_return_address(0);
  if (handle == RTLD_NEXT) {
    const Module* module = find(caller).module;
    if (module != nullptr) return next_of_image(*module, name);
    return loader_dlsym()(handle, name);
  }
  if (process_of_thread() == nullptr) return loader_dlsym()(handle, name);
  return look_up(handle, name, caller);
}

// The images call this function by another name (image_relocations.cpp): this library uses the
// loader's.
SORREL_INTERPOSED [[gnu::optimize("O2"), gnu::no_sanitize("address", "thread", "undefined")]] void*
sorrel_dlvsym(void* handle, const char* name, const char* version) noexcept {
  using namespace sorrel::program;
  return symbol_of_rank(::dlvsym(handle, name, version));
}
