#include "program/gpu/substitutes.hpp"

#include <array>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <mutex>
#include <string_view>

#include "base/check.hpp"
#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/image/driver_libraries.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr const char* driver_file = "libcuda.so.1";

/// The driver cannot be used (CUDA_ERROR_SYSTEM_DRIVER_MISMATCH).
constexpr Result driver_mismatch = 803;

/// A flag of cuGetProcAddress(): a null stream is that of the thread.
constexpr std::uint64_t per_thread_flag = 2;

Result get_proc_address(const char* name, void** function, int version, std::uint64_t flags);
Result get_proc_address_v2(
    const char* name, void** function, int version, std::uint64_t flags, int* status);

/// Waits need it (device_wait.hpp); drivers before CUDA 10 lack it.
bool is_too_old() {
  return driver().cuLaunchHostFunc == nullptr;
}

/// The driver loads further libraries meanwhile.
Result initialize(unsigned flags) {
  static_cast<void>(gpu_of_caller());
  if (is_too_old()) return driver_mismatch;
  const Result result = driver().cuInit(flags);
  record_driver_libraries();
  return result;
}

const std::array own_substitutes = {
    Substitute{"cuInit", "cuInit", 2000, Variant::only, reinterpret_cast<void*>(initialize)},
    Substitute{"cuGetProcAddress", "cuGetProcAddress", 11030, Variant::only,
               reinterpret_cast<void*>(get_proc_address)},
    Substitute{"cuGetProcAddress", "cuGetProcAddress_v2", 12000, Variant::only,
               reinterpret_cast<void*>(get_proc_address_v2)},
};

/// Calls visit(substitute) for all of the table.
template <class Visit>
void for_each_substitute(Visit&& visit) {
  for (const std::span<const Substitute> part :
       {std::span<const Substitute>(own_substitutes), context_substitutes(), copy_substitutes(),
        memory_substitutes(), stream_substitutes(), operation_substitutes()}) {
    for (const Substitute& substitute : part)
      visit(substitute);
  }
}

[[nodiscard]] const Substitute* find_symbol(std::string_view symbol) {
  const Substitute* found = nullptr;
  for_each_substitute([&](const Substitute& substitute) {
    if (substitute.symbol == symbol) found = &substitute;
  });
  return found;
}

/// What a program of `version` means by a name.
[[nodiscard]] const Substitute* find_name(std::string_view name, int version, std::uint64_t flags) {
  const Variant left_out = (flags & per_thread_flag) != 0 ? Variant::legacy : Variant::per_thread;
  const Substitute* found = nullptr;
  for_each_substitute([&](const Substitute& substitute) {
    if (substitute.name != name || substitute.version > version || substitute.variant == left_out ||
        driver_symbol(substitute.symbol) == nullptr)
      return;
    if (found == nullptr || found->version < substitute.version) found = &substitute;
  });
  return found;
}

/// Puts the substitute in the place of the driver's answer. A later version of a function than
/// those of the table stays the driver's: its arguments may differ.
void replace(const char* name, void** function, int version, std::uint64_t flags) {
  if (function == nullptr || *function == nullptr) return;
  const Substitute* found = find_name(name, version, flags);
  if (found == nullptr) return;
  Dl_info info{};
  const bool is_named =
      ::dladdr(*function, &info) != 0 && info.dli_saddr == *function && info.dli_sname != nullptr;
  if (is_named && std::strcmp(info.dli_sname, found->symbol) != 0) {
    const Substitute* by_symbol = find_symbol(info.dli_sname);
    if (by_symbol == nullptr) return;
    found = by_symbol;
  }
  *function = found->function;
}

Result get_proc_address(const char* name, void** function, int version, std::uint64_t flags) {
  const Result result = driver().cuGetProcAddress(name, function, version, flags);
  if (result == success) replace(name, function, version, flags);
  return result;
}

Result get_proc_address_v2(
    const char* name, void** function, int version, std::uint64_t flags, int* status) {
  const Result result = driver().cuGetProcAddress_v2(name, function, version, flags, status);
  if (result == success) replace(name, function, version, flags);
  return result;
}

/// Loads the functions of the driver once, from its library.
void load(void* library) {
  SORREL_ASSERT(library != nullptr, "the driver has no library");
  static std::once_flag once;
  std::call_once(once, [library] {
    load_driver(library);
    load_stream_operations(library);
    if (is_too_old()) {
      std::fputs(
          "sorrel: libcuda.so.1 has no cuLaunchHostFunc: ranks that share a process need a driver "
          "of CUDA 10 or newer; with --procs and as many processes as ranks, any runs\n",
          stderr);
    }
    record_driver_libraries();
    // Last: other ranks do not wait for this one, and call the functions from here on.
    announce_driver(library);
  });
}

}  // namespace

void find_loaded_driver() {
  if (!has_driver_code()) return;
  static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
  if (void* library = real_open(driver_file, RTLD_LAZY | RTLD_NOLOAD)) load(library);
}

bool can_load_driver() {
  if (has_driver()) return true;
  static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
  void* library = real_open(driver_file, RTLD_NOW);
  if (library == nullptr) return false;
  record_driver_libraries();
  load(library);
  return true;
}

void* substitute_for(void* found, const char* symbol) {
  if (found == nullptr || !is_driver_code(found)) return found;
  if (!has_driver()) find_loaded_driver();
  if (!has_driver() || driver_symbol(symbol) != found) return found;
  const Substitute* substitute = find_symbol(symbol);
  return substitute != nullptr ? substitute->function : found;
}

}  // namespace sorrel::program::gpu
