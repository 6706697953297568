#include "os/find_object.hpp"

#include <algorithm>
#include <cstdint>

namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* result;
  bool is_found = false;
};

int examine(dl_phdr_info* info, std::size_t /*size*/, void* data) {
  auto& search = *static_cast<Search*>(data);
  constexpr std::uintptr_t page = 4096;
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  std::uintptr_t unwind_table = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const std::uintptr_t at = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_GNU_EH_FRAME) unwind_table = at;
    if (segment.p_type != PT_LOAD) continue;
    begin = std::min(begin, at / page * page);
    end = std::max(end, at + segment.p_memsz);
  }
  if (search.address < begin || search.address >= end) return 0;
  *search.result = {};
  search.result->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.result->dlfo_map_end = reinterpret_cast<void*>(end);
  search.result->dlfo_eh_frame = reinterpret_cast<void*>(unwind_table);
  // glibc shows the name in its own description of the file.
  for (link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    if (map->l_name == info->dlpi_name) search.result->dlfo_link_map = map;
  }
  search.is_found = unwind_table != 0 && search.result->dlfo_link_map != nullptr;
  return 1;
}

}  // namespace

int sorrel_find_object(void* address,
                       dl_find_object* result,
                       int (*iterate)(int (*)(dl_phdr_info*, std::size_t, void*), void*)) noexcept {
  Search search{.address = reinterpret_cast<std::uintptr_t>(address), .result = result};
  iterate(&examine, &search);
  return search.is_found ? 0 : -1;
}
