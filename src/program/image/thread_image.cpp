#include "program/image/thread_image.hpp"

#include <algorithm>
#include <cstring>
#include <link.h>

#include "program/base/libc.hpp"

namespace sorrel::program {

namespace {

[[nodiscard]] bool has_initial_values(const Module& module) {
  return module.thread_local_segment != nullptr && module.thread_local_segment->p_filesz > 0;
}

int fill_module(dl_phdr_info* info, std::size_t, void* argument) {
  const auto& copy = *static_cast<const PrivatizedImage*>(argument);
  for (const Module& module : copy.image().modules) {
    if (module.segments != info->dlpi_phdr) continue;
    const ElfW(Phdr)* segment = module.thread_local_segment;
    if (has_initial_values(module) && info->dlpi_tls_data != nullptr) {
      std::memcpy(info->dlpi_tls_data, copy.at<void>(segment->p_vaddr + module.shift),
                  segment->p_filesz);
    }
  }
  // The executable is the first entry.
  return copy.image().has_libraries() ? 0 : 1;
}

}  // namespace

void fill_thread_locals(const PrivatizedImage& copy) {
  static auto* const real_iterate = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  const std::vector<Module>& modules = copy.image().modules;
  if (std::any_of(modules.begin(), modules.end(), has_initial_values))
    real_iterate(fill_module, const_cast<PrivatizedImage*>(&copy));
}

}  // namespace sorrel::program
