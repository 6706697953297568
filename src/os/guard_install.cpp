#include "os/guard_install.hpp"

#include <cstddef>
#include <sys/mman.h>
#include <unistd.h>

namespace sorrel::os {

bool has_guard_install() {
  // Debian 12's headers lack the constant.
  constexpr int madv_guard_install = 102;
  // Not an advice of any Linux: an emulator that accepts it may ignore all advice.
  constexpr int madv_nonsense = 0x5a5a;
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page =
      mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool works = madvise(page, page_bytes, madv_nonsense) != 0 &&
                     madvise(page, page_bytes, madv_guard_install) == 0;
  munmap(page, page_bytes);
  return works;
}

}  // namespace sorrel::os
