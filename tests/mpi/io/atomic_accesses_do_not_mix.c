// Atomic mode: of accesses to the same bytes, one comes entirely before another. Writers have a
// view with gaps, so their data is moved in several parts, between which other ranks run. Readers
// take the same range as one part.
#include "io_check.h"

enum { stride = 3, number_count = 60000, rounds = 4 };

static void check_uniform(const int* block) {
  for (int i = 1; i < number_count; i++)
    CHECK_EQUAL(block[stride * i], block[0]);
}

int main(int argc, char** argv) {
  begin_test(&argc, &argv);
  MPI_File file =
      open_for_all("atomic", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  int flag = -1;
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(flag, 0);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(flag, 1);
  if (size > 1) CHECK_CLASS(MPI_File_set_atomicity(file, rank == 0), MPI_ERR_NOT_SAME);
  CHECK_OK(MPI_File_set_size(file, (MPI_Offset)stride * number_count * 4));
  MPI_Datatype gaps;
  MPI_Type_create_resized(MPI_INT, 0, stride * 4, &gaps);
  MPI_Type_commit(&gaps);
  // With many ranks, most only take part in the collective calls.
  const int is_writer = rank % 2 == 0 && rank < 8, is_reader = rank % 2 == 1 && rank < 8;
  CHECK_OK(
      MPI_File_set_view(file, 0, MPI_INT, is_writer ? gaps : MPI_INT, "native", MPI_INFO_NULL));
  int* block = malloc((size_t)stride * number_count * sizeof(int));
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < number_count; i++)
      block[i] = 1 + rank + round * size;
    MPI_Barrier(MPI_COMM_WORLD);
    const int count = is_writer ? number_count : is_reader ? stride * number_count : 0;
    if (is_writer && round % 2 == 0)
      CHECK_OK(MPI_File_write_at(file, 0, block, count, MPI_INT, MPI_STATUS_IGNORE));
    if (is_reader && round % 2 == 0)
      CHECK_OK(MPI_File_read_at(file, 0, block, count, MPI_INT, MPI_STATUS_IGNORE));
    if (round % 2 == 1) {
      // Nonblocking accesses do the same.
      MPI_Request request;
      if (is_writer)
        CHECK_OK(MPI_File_iwrite_at(file, 0, block, count, MPI_INT, &request));
      else
        CHECK_OK(MPI_File_iread_at(file, 0, block, count, MPI_INT, &request));
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    if (is_reader) check_uniform(block);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  // All write together, and one value remains.
  const int count = is_writer ? number_count : 0;
  CHECK_OK(MPI_File_write_at_all(file, 0, block, count, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_sync(file));
  if (is_reader) {
    CHECK_OK(MPI_File_read_at(file, 0, block, stride * number_count, MPI_INT, MPI_STATUS_IGNORE));
    check_uniform(block);
  }
  MPI_Type_free(&gaps);
  free(block);
  CHECK_OK(MPI_File_close(&file));
  end_test();
  return 0;
}
