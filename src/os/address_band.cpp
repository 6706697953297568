#include "os/address_band.hpp"

#include <cerrno>
#include <sys/mman.h>

#include "base/check.hpp"

namespace sorrel::os {

std::uintptr_t AddressBand::place(std::size_t count, std::size_t pitch, std::size_t rest) const {
  std::size_t end = 0;
  if (begin == 0 || __builtin_mul_overflow(first + count, pitch, &end) ||
      __builtin_add_overflow(end, rest, &end) || end > bytes)
    return 0;
  return begin + first * pitch;
}

void* map_memory(
    std::uintptr_t address, std::size_t bytes, int protection, int flags, bool may_be_elsewhere) {
  SORREL_ASSERT(bytes != 0, "no bytes at 0x%zx", address);
  const int all_flags = flags | MAP_PRIVATE | MAP_ANONYMOUS;
  if (address != 0) {
    void* wanted = reinterpret_cast<void*>(address);
    void* mapped = ::mmap(wanted, bytes, protection, all_flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (mapped == wanted) return mapped;
    // Kernels before 4.17 take the address as a hint.
    if (mapped != MAP_FAILED) {
      ::munmap(mapped, bytes);
      errno = EEXIST;
    }
  }
  return may_be_elsewhere ? ::mmap(nullptr, bytes, protection, all_flags, -1, 0) : MAP_FAILED;
}

}  // namespace sorrel::os
