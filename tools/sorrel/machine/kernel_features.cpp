#include "tools/sorrel/machine/kernel_features.hpp"

#include <cstdint>
#include <initializer_list>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/guard_install.hpp"
#include "os/peer_memory.hpp"

namespace sorrel::tool {

namespace {

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

}  // namespace

KernelFeatures read_kernel_features() {
  return {.futex = has_futex(),
          .membarrier = has_membarrier(),
          .fsgsbase = has_fsgsbase(),
          .guard_install = os::has_guard_install()};
}

// Tried as in a job: two children of one parent, one of which allows it.
bool can_read_peer_memory() {
  static const int value = 42;
  int ready[2];
  int finished[2];
  if (pipe(ready) != 0) return false;
  if (pipe(finished) != 0) {
    close(ready[0]);
    close(ready[1]);
    return false;
  }
  char byte = 0;
  const pid_t parent = getpid();
  const pid_t read_from = fork();
  if (read_from == 0) {
    os::let_descendants_read(parent);
    close(finished[1]);
    // Waits until the parent closes its end.
    const bool has_answer = write(ready[1], &byte, 1) == 1 && read(finished[0], &byte, 1) == 0;
    _exit(has_answer ? 0 : 1);
  }
  int status = -1;
  if (read_from > 0 && read(ready[0], &byte, 1) == 1) {
    const pid_t reader = fork();
    if (reader == 0) {
      int copy = 0;
      const bool works = os::read_peer_memory(
          read_from, &copy, reinterpret_cast<std::uintptr_t>(&value), sizeof copy);
      _exit(works && copy == value ? 0 : 1);
    }
    if (reader > 0) waitpid(reader, &status, 0);
  }
  for (const int end : {ready[0], ready[1], finished[0], finished[1]})
    close(end);
  if (read_from > 0) waitpid(read_from, nullptr, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace sorrel::tool
