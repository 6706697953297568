// Atomic mode: of accesses to the same bytes, one comes entirely before another. Long blocks, which
// are moved in several parts, between which other ranks run; contiguous and with gaps.
#include "io_check.h"

static int rank, size;

enum { numbers = 400000 };

static void check_uniform(const int* block, int count) {
  for (int i = 1; i < count; i++)
    CHECK_EQUAL(block[i], block[0]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  make_test_folder();
  MPI_File file =
      open_for_all("atomic", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  int flag = -1;
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(flag, 0);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQUAL(flag, 1);
  if (size > 1) CHECK_CLASS(MPI_File_set_atomicity(file, rank == 0), MPI_ERR_NOT_SAME);
  // The more ranks there are, the shorter their blocks.
  const int count = size > 8 ? numbers / size : numbers;
  int* block = malloc(numbers * sizeof(int));
  MPI_Datatype gaps;
  MPI_Type_create_resized(MPI_INT, 0, 12, &gaps);
  MPI_Type_commit(&gaps);
  for (int round = 0; round < 2; round++) {
    const int own = round == 0 ? count : count / 20;
    CHECK_OK(
        MPI_File_set_view(file, 0, MPI_INT, round == 0 ? MPI_INT : gaps, "native", MPI_INFO_NULL));
    for (int i = 0; i < own; i++)
      block[i] = rank;
    CHECK_OK(MPI_File_write_at(file, 0, block, own, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at(file, 0, block, own, MPI_INT, MPI_STATUS_IGNORE));
    check_uniform(block, own);
    for (int i = 0; i < own; i++)
      block[i] = rank;
    CHECK_OK(MPI_File_write_at_all(file, 0, block, own, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at_all(file, 0, block, own, MPI_INT, MPI_STATUS_IGNORE));
    check_uniform(block, own);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&gaps);
  free(block);
  CHECK_OK(MPI_File_close(&file));
  remove_test_folder();
  MPI_Finalize();
  return 0;
}
