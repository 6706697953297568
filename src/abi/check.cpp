#include "abi/check.hpp"

namespace sorrel::abi {

int fail_datatype(mpi::RankState& self, MPI_Datatype handle) {
  if (handle == MPI_DATATYPE_NULL)
    return self.fail(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL");
  return self.fail(MPI_ERR_TYPE, "the handle is no datatype");
}

int fail_uncommitted(mpi::RankState& self) {
  return self.fail(MPI_ERR_TYPE, "the datatype is not committed: call MPI_Type_commit first");
}

int fail_count(mpi::RankState& self, long long count) {
  return self.fail(MPI_ERR_COUNT, "the count is %lld; it must not be negative", count);
}

int fail_rank(mpi::RankState& self, const char* what, int rank, int size) {
  return self.fail(MPI_ERR_RANK, "%s %d is not in 0..%d", what, rank, size - 1);
}

int fail_root(mpi::RankState& self, int root, int size) {
  return self.fail(MPI_ERR_ROOT, "root %d is not in 0..%d", root, size - 1);
}

int fail_tag(mpi::RankState& self, int tag) {
  return self.fail(MPI_ERR_TAG, "the tag is %d; it must not be negative", tag);
}

int fail_buffer(mpi::RankState& self) {
  return self.fail(MPI_ERR_BUFFER, "the buffer is a null pointer, the count is not 0");
}

}  // namespace sorrel::abi
