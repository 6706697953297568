#include "mpi/io/disk_error.hpp"

#include <cerrno>
#include <cstring>

namespace sorrel::mpi {

int error_class_of(int number) {
  switch (number) {
    case ENOENT:
      return MPI_ERR_NO_SUCH_FILE;
    case EEXIST:
      return MPI_ERR_FILE_EXISTS;
    case EACCES:
    case EPERM:
      return MPI_ERR_ACCESS;
    case EROFS:
      return MPI_ERR_READ_ONLY;
    case ENOSPC:
      return MPI_ERR_NO_SPACE;
    case EDQUOT:
      return MPI_ERR_QUOTA;
    case ETXTBSY:
    case EBUSY:
      return MPI_ERR_FILE_IN_USE;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
      return MPI_ERR_BAD_FILE;
    case ENOMEM:
      return MPI_ERR_NO_MEM;
    default:
      return MPI_ERR_IO;
  }
}

int fail_disk(RankState& self, const char* action, const char* path, int number) {
  return self.fail(error_class_of(number), "%s '%.150s': %s", action, path, std::strerror(number));
}

}  // namespace sorrel::mpi
