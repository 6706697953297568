#include "os/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace sorrel::os {

void reserve_standard_descriptors() {
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number) {
    if (fcntl(number, F_GETFD) >= 0) continue;
    // The direction that programs do not use: read() and write() still fail with EBADF.
    const int mode = number == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    // The lowest free number is this one.
    if (open("/dev/null", mode) < 0) return;
  }
}

}  // namespace sorrel::os
