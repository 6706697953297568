#include "program/base/user_memory.hpp"

#include <cerrno>
#include <cstring>
#include <sys/uio.h>
#include <unistd.h>

namespace sorrel::program {

namespace {

enum class Access : bool { read, write };

/// Where the system does not allow the call at all, addresses are believed.
bool copy(void* own, void* user, std::size_t bytes, Access access) {
  if (bytes == 0) return true;
  const int error = errno;
  const iovec local{.iov_base = own, .iov_len = bytes};
  const iovec remote{.iov_base = user, .iov_len = bytes};
  const ssize_t count = access == Access::read
                            ? ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0)
                            : ::process_vm_writev(::getpid(), &local, 1, &remote, 1, 0);
  if (count < 0 && errno != EFAULT) {
    std::memcpy(access == Access::read ? own : user, access == Access::read ? user : own, bytes);
    errno = error;
    return true;
  }
  errno = error;
  return count == static_cast<ssize_t>(bytes);
}

}  // namespace

bool copy_from_user(void* to, const void* from, std::size_t bytes) {
  return copy(to, const_cast<void*>(from), bytes, Access::read);
}

bool copy_to_user(void* to, const void* from, std::size_t bytes) {
  if (copy(const_cast<void*>(from), to, bytes, Access::write)) return true;
  errno = EFAULT;
  return false;
}

}  // namespace sorrel::program
