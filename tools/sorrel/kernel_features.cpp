#include "tools/sorrel/kernel_features.hpp"

#include <cstddef>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sorrel::tool {

namespace {

/// Newer than Debian 12's headers.
constexpr int madv_guard_install = 102;

bool has_futex() {
  int word = 0;
  return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0) == 0;
}

bool has_membarrier() {
  const long offered = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);
  return offered > 0 && (offered & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
}

bool has_fsgsbase() {
#if defined(__x86_64__)
  constexpr unsigned long hwcap2_fsgsbase = 1UL << 1;
  return (getauxval(AT_HWCAP2) & hwcap2_fsgsbase) != 0;
#else
  return true;  // aarch64 user code has always been free to write its thread pointer
#endif
}

bool has_guard_install() {
  const auto page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* page =
      mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool works = madvise(page, page_bytes, madv_guard_install) == 0;
  munmap(page, page_bytes);
  return works;
}

}  // namespace

KernelFeatures read_kernel_features() {
  return {.futex = has_futex(),
          .membarrier = has_membarrier(),
          .fsgsbase = has_fsgsbase(),
          .guard_install = has_guard_install()};
}

}  // namespace sorrel::tool
