#include "os/loaded_libraries.hpp"

#include <link.h>

namespace sorrel::os {

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  const auto add = [](dl_phdr_info* info, std::size_t, void* argument) {
    if (info->dlpi_name != nullptr && *info->dlpi_name != '\0')
      static_cast<std::vector<std::string>*>(argument)->emplace_back(info->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(add, &paths);
  return paths;
}

bool is_needed(std::string_view soname) {
  const auto names_it = [](dl_phdr_info* info, std::size_t, void* argument) {
    const std::string_view sought = *static_cast<const std::string_view*>(argument);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& header = info->dlpi_phdr[i];
      if (header.p_type != PT_DYNAMIC) continue;
      const auto* const entries =
          reinterpret_cast<const ElfW(Dyn)*>(info->dlpi_addr + header.p_vaddr);
      ElfW(Addr) strings = 0;
      for (const auto* entry = entries; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
      }
      // The loader has made it an address, except in the object that the kernel maps.
      if (strings < info->dlpi_addr) strings += info->dlpi_addr;
      for (const auto* entry = entries; entry->d_tag != DT_NULL; ++entry) {
        if (entry->d_tag == DT_NEEDED &&
            sought == reinterpret_cast<const char*>(strings + entry->d_un.d_val))
          return 1;
      }
    }
    return 0;
  };
  return dl_iterate_phdr(names_it, &soname) != 0;
}

}  // namespace sorrel::os
