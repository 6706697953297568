#include "os/memory_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace sorrel::os {

int make_memory_file() {
  return memfd_create("sorrel-checkpoint", 0);
}

int clear_memory_file(int descriptor) {
  return ftruncate(descriptor, 0) == 0 ? 0 : errno;
}

void keep_from_programs(int descriptor) {
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

}  // namespace sorrel::os
