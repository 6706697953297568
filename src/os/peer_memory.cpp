#include "os/peer_memory.hpp"

#include <sys/prctl.h>
#include <sys/uio.h>

namespace sorrel::os {

void let_descendants_read(pid_t ancestor) {
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(ancestor), 0, 0, 0);
}

bool read_peer_memory(pid_t pid, void* target, std::uintptr_t source, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(target);
  while (bytes > 0) {
    const iovec local{.iov_base = to, .iov_len = bytes};
    const iovec remote{.iov_base = reinterpret_cast<void*>(source), .iov_len = bytes};
    const ssize_t count = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    // The kernel copies at most 2 GiB a call, and stops early at an address that is not there.
    if (count <= 0) return false;
    to += count;
    source += static_cast<std::uintptr_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

}  // namespace sorrel::os
