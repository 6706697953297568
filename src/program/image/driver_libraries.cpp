#include "program/image/driver_libraries.hpp"

#include <algorithm>
#include <cstdint>
#include <link.h>
#include <mutex>

#include "os/device_driver.hpp"
#include "program/base/driver_code.hpp"
#include "program/base/libc.hpp"

namespace sorrel::program {

namespace {

int add_if_driver(dl_phdr_info* info, std::size_t, void*) {
  if (!os::is_device_driver(info->dlpi_name)) return 0;
  std::uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type == PT_LOAD) end = std::max(end, segment.p_vaddr + segment.p_memsz);
  }
  add_driver_code(info->dlpi_addr, info->dlpi_addr + end);
  return 0;
}

}  // namespace

void record_driver_libraries() {
  static std::mutex mutex;
  static auto* const real_iterate = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  const std::scoped_lock lock(mutex);
  real_iterate(add_if_driver, nullptr);
}

}  // namespace sorrel::program
