//! dlopen, dlmopen, dlclose and dlerror for ranks: a library with data, or one that needs what is
//! private to a rank, is opened as an instance of the calling rank.
//!
//! Any thread. The handle is the loader's, of the library's template image: the same for all ranks,
//! which count their uses separately.

#include <cstdio>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "os/device_driver.hpp"
#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"
#include "program/image/driver_libraries.hpp"
#include "program/image/library_check.hpp"
#include "program/image/opened_library.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

namespace sorrel::program {

namespace {

// A call of a function that may throw is never a jump.
using OpenFile = void*(const char* name, int flags) noexcept;

// The process of a rank with a privatized image, which a library that it opens would not use.
RankProcess* process_with_copy() {
  RankProcess* process = process_of_thread();
  return process != nullptr && !process->copy().is_template() ? process : nullptr;
}

/// The calling thread's error: a rank's own, or that of another thread.
[[nodiscard]] LoaderError& loader_error() {
  thread_local LoaderError of_thread;
  RankProcess* process = current_rank_process();
  return process != nullptr ? process->libc_state().loader_error() : of_thread;
}

void* set_error(const std::string& text) {
  // Clears the errors that the search for the library has left.
  (void)::dlerror();
  loader_error() = {.text = text, .is_pending = true};
  return nullptr;
}

// Reports the reason on standard error, once for each library, and records it for dlerror().
void* fail_open(const char* name, const std::string& reason) {
  static std::mutex mutex;
  static std::set<std::string>& reported = *new std::set<std::string>;
  set_error(std::string(name) + " is not opened: " + reason +
            "; run with --procs N: a process for each of N ranks");
  const std::lock_guard lock(mutex);
  if (reported.insert(name).second)
    std::fprintf(stderr, "sorrel: dlopen: %s\n", loader_error().text.c_str());
  return nullptr;
}

/// The path of the code that calls: of the library, if it is a privatized image.
[[nodiscard]] std::string path_of_caller(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  const ImageSlab* slab = slab_at(address);
  if (slab == nullptr) return path_of_code(caller);
  const Module* module = slab->copy(slab->index_of(address)).module_at(address);
  SORREL_ASSERT(module == nullptr || current_slab() != nullptr, "an image without the program's");
  return module == nullptr || module == &current_slab()->image().executable() ? "" : module->path;
}

class Opening {
 public:
  Opening(RankProcess& process, const char* name, int flags, OpenFile* open)
      : process_(process), name_(name), flags_(flags), open_(open) {}

  void* run(const void* caller) {
    const RankLibraries::Lock lock(process_.libraries());
    const std::string name = name_for_loader(name_);
    if (void* loaded = open_(name.c_str(), flags_ | RTLD_NOLOAD)) return use(loaded);
    std::vector<const ImageSlab*> in_scope;
    for (const OpenedLibrary* library : process_.libraries().globals())
      in_scope.push_back(&library->slab());
    OpenDecision decision = check_open(name.c_str(), path_of_caller(caller), in_scope);
    if (!decision.translations.empty() && (flags_ & RTLD_NOLOAD) == 0) {
      for (const std::string& translation : decision.translations) {
        if (Opening(process_, translation.c_str(), RTLD_NOW | RTLD_LOCAL, open_).run(caller) ==
            nullptr)
          return nullptr;
      }
      decision = check_open(name.c_str(), path_of_caller(caller), in_scope);
    }
    if (!decision.damage.empty()) return set_error(decision.damage);
    const char* file = decision.path.empty() ? name.c_str() : decision.path.c_str();
    if (void* loaded = open_(file, flags_ | RTLD_NOLOAD)) return use(loaded);
    if ((flags_ & RTLD_NOLOAD) != 0) return nullptr;
    if (decision.is_private) return load(decision);
    void* handle = open_(file, flags_);
    link_map* map = nullptr;
    if (handle == nullptr || !decision.path.empty() ||
        ::dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map->l_name == nullptr)
      return handle;
    const OpenDecision late = check_file(map->l_name, in_scope);
    if (!late.is_private) return handle;
    close(handle);
    return fail_open(name_,
                     "it is not where it was expected, and each rank needs its own instance: give "
                     "its path");
  }

 private:
  static void close(void* handle) {
    static auto* const real = next_definition<decltype(::dlclose)>("dlclose");
    real(handle);
  }

  /// A library that the loader has loaded, with one more use of its handle.
  void* use(void* handle) {
    if (const std::string reason = load_failure(handle); !reason.empty()) {
      close(handle);
      return fail_open(name_, reason);
    }
    const OpenedLibrary* library = opened_library(handle);
    if (library == nullptr) return use_shared(handle);
    close(handle);
    if ((flags_ & RTLD_NOLOAD) != 0 && !process_.libraries().has(*library)) return nullptr;
    return instantiate(*library);
  }

  void* use_shared(void* handle) {
    const std::string conflict = binding_conflict(handle, process_.libraries().globals());
    if (conflict.empty()) return handle;
    close(handle);
    return fail_open(name_, conflict);
  }

  void* load(const OpenDecision& decision) {
    if (!decision.reason.empty()) return fail_open(name_, decision.reason);
    if ((flags_ & RTLD_DEEPBIND) != 0)
      return fail_open(
          name_, "each rank needs its own instance, for which RTLD_DEEPBIND is not supported");
    const LoadResult result = load_library(name_, decision, process_.libraries().globals());
    if (result.library != nullptr) return instantiate(*result.library);
    return result.reason.empty() ? nullptr : fail_open(name_, result.reason);
  }

  void* instantiate(const OpenedLibrary& library) {
    SORREL_ASSERT(library.handle != nullptr, "%s is not loaded", name_);
    const std::string error = process_.libraries().open(library, flags_);
    return error.empty() ? library.handle : fail_open(name_, error);
  }

  RankProcess& process_;
  const char* name_;
  const int flags_;
  OpenFile* open_;
};

// Not inlined: a function that calls the loader with a jump has no local objects.
[[gnu::noinline]] void* open_for_rank(const char* name,
                                      int flags,
                                      OpenFile* open,
                                      const void* caller) {
  SORREL_ASSERT(process_with_copy() != nullptr, "%s is not opened by a rank", name);
  RankProcess& process = *process_with_copy();
  // The constructors of libraries run below.
  const PinnedRank pinned(process);
  void* handle = Opening(process, name, flags, open).run(caller);
  if (handle != nullptr && os::is_device_driver(name)) record_driver_libraries();
  // A restarted process has not loaded it.
  if (handle != nullptr && RankProcess::are_saved() && opened_library(handle) == nullptr)
    process.unsaved().add(handle, "it has opened a library (dlopen)");
  return handle;
}

[[gnu::noinline]] void* open_in_space(Lmid_t space,
                                      const char* name,
                                      int flags,
                                      const void* caller) {
  static auto* const real_open = next_definition<OpenFile>("dlopen");
  if (space == LM_ID_BASE) return open_for_rank(name, flags, real_open, caller);
  return fail_open(name, "dlmopen with a name space of its own is not supported");
}

[[nodiscard]] bool is_free_to_open(const char* name, const void* caller) {
  return process_with_copy() == nullptr || name == nullptr || *name == '\0' ||
         is_of_process(caller) || is_of_host(caller);
}

}  // namespace

}  // namespace sorrel::program

// The loader searches by the path of the calling library, so this call must be a jump.
SORREL_INTERPOSED [[gnu::optimize("O2"), gnu::no_sanitize("address", "thread", "undefined")]] void*
dlopen(const char* name, int flags) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<OpenFile>("dlopen");
  const void* caller = __builtin_return_address(0);
  if (is_free_to_open(name, caller)) {
    if (name != nullptr && sorrel::os::is_device_driver(name)) call_driver_hook();
    return real(name, flags);
  }
  return open_for_rank(name, flags, real, caller);
}

// A name space of its own has libraries of its own, of which ranks cannot have instances.
SORREL_INTERPOSED [[gnu::optimize("O2"), gnu::no_sanitize("address", "thread", "undefined")]] void*
dlmopen(Lmid_t space, const char* name, int flags) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::dlmopen)>("dlmopen");
  const void* caller = __builtin_return_address(0);
  if (is_free_to_open(name, caller)) return real(space, name, flags);
  return open_in_space(space, name, flags, caller);
}

SORREL_INTERPOSED int dlclose(void* handle) noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::dlclose)>("dlclose");
  RankProcess* process = process_with_copy();
  const OpenedLibrary* library = process == nullptr ? nullptr : opened_library(handle);
  if (library == nullptr) {
    const int result = real(handle);
    if (result == 0 && process != nullptr && RankProcess::are_saved())
      process->unsaved().remove(handle);
    return result;
  }
  const PinnedRank pinned(*process);
  const RankLibraries::Lock lock(process->libraries());
  if (process->libraries().close(*library)) return 0;
  set_error(library->module().path + " is not open in this rank");
  return -1;
}

SORREL_INTERPOSED char* dlerror() noexcept {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::dlerror)>("dlerror");
  LoaderError& error = loader_error();
  if (std::exchange(error.is_pending, false)) return error.text.data();
  // A copy: a look-up of this library's own would free the loader's text.
  const char* text = real();
  if (text == nullptr) return nullptr;
  error.text = text;
  return error.text.data();
}
