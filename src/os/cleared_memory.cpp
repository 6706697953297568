#include "os/cleared_memory.hpp"

#include <cstring>
#include <sys/mman.h>

#include "os/kept_errno.hpp"

namespace sorrel::os {

void clear_memory(void* begin, std::size_t bytes) {
  const KeptErrno kept;
  if (madvise(begin, bytes, MADV_DONTNEED) != 0) std::memset(begin, 0, bytes);
}

}  // namespace sorrel::os
