// Members of a collective access may give an offset or use their pointer, as PnetCDF does: each
// calls MPI_File_write_all or MPI_File_write_at_all. The calls that end a split access must be
// those that began it.
#include "io_check.h"

enum { count = 100 };

static void fill(int* numbers, int first) {
  for (int i = 0; i < count; i++)
    numbers[i] = first + i;
}

int main(int argc, char** argv) {
  begin_test(&argc, &argv);
  MPI_File file = open_for_all("mixed", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  int numbers[count], read_back[count] = {0};
  MPI_Status status;
  MPI_Request request;
  const MPI_Offset own = (MPI_Offset)rank * (MPI_Offset)sizeof numbers;
  fill(numbers, 1000 * rank);
  CHECK_OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  CHECK_OK(rank % 2 ? MPI_File_write_all(file, numbers, count, MPI_INT, &status)
                    : MPI_File_write_at_all(file, own, numbers, count, MPI_INT, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), count);
  CHECK_OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  CHECK_OK(rank % 3 ? MPI_File_read_all(file, read_back, count, MPI_INT, &status)
                    : MPI_File_read_at_all(file, own, read_back, count, MPI_INT, &status));
  CHECK_EQUAL(memcmp(numbers, read_back, sizeof numbers), 0);

  fill(numbers, -1000 * rank);
  CHECK_OK(MPI_File_seek(file, own, MPI_SEEK_SET));
  CHECK_OK(rank % 2 ? MPI_File_iwrite_all(file, numbers, count, MPI_INT, &request)
                    : MPI_File_iwrite_at_all(file, own, numbers, count, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), count);
  CHECK_OK(MPI_File_read_at_all_begin(file, own, read_back, count, MPI_INT));
  CHECK_CLASS(MPI_File_read_all_end(file, read_back, &status), MPI_ERR_OTHER);
  CHECK_OK(MPI_File_read_at_all_end(file, read_back, &status));
  CHECK_CLASS(MPI_File_read_at_all_end(file, read_back, &status), MPI_ERR_OTHER);
  CHECK_EQUAL(memcmp(numbers, read_back, sizeof numbers), 0);
  CHECK_OK(MPI_File_close(&file));
  end_test();
  return 0;
}
