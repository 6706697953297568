// The pointers of files, and offsets in their views. MPI 5.0, 14.4.3, 14.4.4.
#include "abi/body.hpp"
#include "mpi/io/change.hpp"
#include "mpi/io/shared_pointer.hpp"

namespace sorrel::abi {

namespace {

using mpi::File;

int check_not_sequential(RankState& self, const File& file) {
  return (file.amode & MPI_MODE_SEQUENTIAL) == 0
             ? MPI_SUCCESS
             : self.fail(MPI_ERR_UNSUPPORTED_OPERATION,
                         "the file was opened with MPI_MODE_SEQUENTIAL");
}

/// Where a pointer at `current` etypes is to go.
int find_target(RankState& self,
                File& file,
                std::int64_t current,
                MPI_Offset offset,
                int whence,
                std::int64_t* target) {
  std::int64_t origin = 0;
  switch (whence) {
    case MPI_SEEK_SET:
      break;
    case MPI_SEEK_CUR:
      origin = current;
      break;
    case MPI_SEEK_END:
      if (const int error = find_end(file, &origin); error != MPI_SUCCESS) return error;
      break;
    default:
      return self.fail(MPI_ERR_ARG,
                       "whence is %d; it must be MPI_SEEK_SET, MPI_SEEK_CUR or MPI_SEEK_END",
                       whence);
  }
  if (__builtin_add_overflow(origin, offset, target) || *target < 0)
    return self.fail(MPI_ERR_ARG, "offset is %lld; the pointer would be before the view's begin",
                     static_cast<long long>(offset));
  return MPI_SUCCESS;
}

}  // namespace

namespace body {

int File_seek(RankState& self, File& file, MPI_Offset offset, int whence) {
  int error = check_not_sequential(self, file);
  std::int64_t target = 0;
  if (error == MPI_SUCCESS) error = find_target(self, file, file.position, offset, whence, &target);
  if (error == MPI_SUCCESS) file.position = target;
  return error;
}

int File_get_position(RankState& self, File& file, MPI_Offset* offset) {
  if (const int error = check_not_sequential(self, file); error != MPI_SUCCESS) return error;
  *offset = file.position;
  return MPI_SUCCESS;
}

int File_get_byte_offset(RankState& self, File& file, MPI_Offset offset, MPI_Offset* disp) {
  std::int64_t position = 0;
  if (offset < 0 || __builtin_mul_overflow(offset, file.view.etype_bytes(), &position) ||
      !file.view.can_address(static_cast<std::uint64_t>(position)))
    return self.fail(MPI_ERR_ARG, "offset is %lld; it must be in the longest file",
                     static_cast<long long>(offset));
  *disp = file.view.offset_of(static_cast<std::uint64_t>(position));
  return MPI_SUCCESS;
}

int File_seek_shared(RankState& self, File& file, MPI_Offset offset, int whence) {
  int error = check_not_sequential(self, file);
  std::int64_t current = 0;
  if (error == MPI_SUCCESS) error = advance_shared_pointer(file, 0, &current);
  std::int64_t target = 0;
  if (error == MPI_SUCCESS) error = find_target(self, file, current, offset, whence, &target);
  return error != MPI_SUCCESS ? error : seek_shared_pointer(file, target);
}

int File_get_position_shared(RankState& self, File& file, MPI_Offset* offset) {
  if (const int error = check_not_sequential(self, file); error != MPI_SUCCESS) return error;
  return advance_shared_pointer(file, 0, offset);
}

}  // namespace body

}  // namespace sorrel::abi
