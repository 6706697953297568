#include "mpi/io/file.hpp"

#include "mpi/io/rank_files.hpp"

namespace sorrel::mpi {

File::File(RankState& self, Comm& own_comm, FileShared& all, int access_mode)
    : owner(&self),
      shared(&all),
      comm(&own_comm),
      amode(access_mode),
      errhandler(RankFiles::of(self).null_errhandler) {
  retain(*errhandler);
  own_comm.file = this;
  // For requests that are concluded after the file has been closed.
  replace(own_comm.errhandler, *errhandler_of(MPI_ERRORS_RETURN));
}

File::~File() {
  header.kind = ObjectKind::freed;
  comm->file = nullptr;
  mpi::release(*errhandler);
  shared->release();
  mpi::release(*comm);
}

}  // namespace sorrel::mpi
