#include "os/disk_folder.hpp"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace sorrel::os {

int sync_folder(const char* path) {
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return errno;
  int error = 0;
  do {
    error = ::fsync(folder) == 0 ? 0 : errno;
  } while (error == EINTR);
  ::close(folder);
  // File systems that cannot sync a folder keep its entries in another way.
  return error == EINVAL ? 0 : error;
}

}  // namespace sorrel::os
