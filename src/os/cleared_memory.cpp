#include "os/cleared_memory.hpp"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace sorrel::os {

void clear_memory(void* begin, std::size_t bytes) {
  const int saved_errno = errno;
  if (madvise(begin, bytes, MADV_DONTNEED) != 0) std::memset(begin, 0, bytes);
  errno = saved_errno;
}

}  // namespace sorrel::os
