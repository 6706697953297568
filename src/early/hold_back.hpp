//! hold_back - takes the constructors and destructors of a loaded module from the loader.
//!
//! After the module's relocation and before its constructors: on the thread that the loader runs
//! on. Uses the C library only. Both sides of early_modules.hpp use it: libsorrel-early.so.0 for
//! what a program needs, program/image for what a rank opens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <link.h>
#include <sys/mman.h>

#include "early/early_modules.hpp"

namespace sorrel::early {

inline void no_constructor() {}

/// The dynamic section lies in the part that the loader has made read-only.
[[nodiscard]] inline bool make_writable(const ElfW(Dyn) * dynamic) {
  constexpr std::size_t page_bytes_max = 65536;
  const ElfW(Dyn)* end = dynamic;
  while (end->d_tag != DT_NULL)
    ++end;
  // Every page size of Linux divides this one; what else lies there is the module's.
  auto first = reinterpret_cast<std::uintptr_t>(dynamic);
  const auto last = reinterpret_cast<std::uintptr_t>(end + 1);
  for (std::size_t page = 4096; page <= page_bytes_max; page *= 2) {
    const std::uintptr_t begin = first & ~(page - 1);
    if (::mprotect(reinterpret_cast<void*>(begin), last - begin, PROT_READ | PROT_WRITE) == 0)
      return true;
  }
  return false;
}

/// Changes the module's dynamic section so that the loader calls nothing, and records what was
/// there. `module.dynamic` stays null if the section cannot be changed.
inline void hold_back(const link_map& map, Module& module) {
  module.base = map.l_addr;
  if (!make_writable(map.l_ld)) return;
  module.dynamic = map.l_ld;
  const std::uintptr_t nothing = reinterpret_cast<std::uintptr_t>(&no_constructor) - map.l_addr;
  const auto take = [](auto& entry, std::uintptr_t replacement) {
    const std::uintptr_t value = entry.d_un.d_val;
    entry.d_un.d_val = replacement;
    return value;
  };
  for (ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_INIT:
        module.init = take(*entry, nothing);
        break;
      case DT_FINI:
        module.fini = take(*entry, nothing);
        break;
      case DT_INIT_ARRAYSZ:
        module.init_bytes = take(*entry, 0);
        break;
      case DT_FINI_ARRAYSZ:
        module.fini_bytes = take(*entry, 0);
        break;
      case DT_PREINIT_ARRAYSZ:
        module.preinit_bytes = take(*entry, 0);
        break;
      default:
        break;
    }
  }
}

}  // namespace sorrel::early
