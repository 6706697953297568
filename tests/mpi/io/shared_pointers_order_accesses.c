// The shared file pointer: accesses of single ranks get separate parts, ordered ones parts in the
// order of the ranks; it is moved by all together.
#include "io_check.h"

/// Each rank writes `count` records; every record is in the file once.
static void records_are_separate(MPI_File file) {
  enum { count = 5 };

  MPI_Request requests[count];
  int records[count][2];
  for (int i = 0; i < count; i++) {
    records[i][0] = rank;
    records[i][1] = i;
    if (i % 2 == 0) {
      requests[i] = MPI_REQUEST_NULL;
      CHECK_OK(MPI_File_write_shared(file, records[i], 2, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      CHECK_OK(MPI_File_iwrite_shared(file, records[i], 2, MPI_INT, &requests[i]));
    }
  }
  CHECK_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset position;
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(position, size * count * 2);
  int* all = malloc((size_t)(size * count) * 2 * sizeof(int));
  char* seen = calloc((size_t)(size * count), 1);
  CHECK_OK(MPI_File_read_at(file, 0, all, size * count * 2, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < size * count; i++) {
    const int which = all[2 * i] * count + all[2 * i + 1];
    CHECK(which >= 0 && which < size * count && seen[which] == 0);
    seen[which] = 1;
  }
  // The records of one rank are in the order of its calls.
  int last = -1;
  for (int i = 0; i < size * count; i++) {
    if (all[2 * i] != rank) continue;
    CHECK(all[2 * i + 1] > last);
    last = all[2 * i + 1];
  }
  free(all);
  free(seen);
}

/// Rank r has r + 1 numbers.
static void order_is_that_of_ranks(MPI_File file) {
  CHECK_OK(MPI_File_seek_shared(file, 3, MPI_SEEK_SET));
  int* numbers = malloc((size_t)(rank + 1) * sizeof(int));
  for (int i = 0; i <= rank; i++)
    numbers[i] = rank * 1000 + i;
  MPI_Status status;
  CHECK_OK(MPI_File_write_ordered(file, numbers, rank + 1, MPI_INT, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), rank + 1);
  CHECK_OK(MPI_File_write_ordered_begin(file, numbers, rank + 1, MPI_INT));
  CHECK_OK(MPI_File_write_ordered_end(file, numbers, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), rank + 1);
  const int total = size * (size + 1) / 2;
  MPI_Offset position;
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(position, 3 + 2 * total);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_seek_shared(file, -total, MPI_SEEK_CUR));
  memset(numbers, 0, (size_t)(rank + 1) * sizeof(int));
  CHECK_OK(MPI_File_read_ordered(file, numbers, rank + 1, MPI_INT, &status));
  for (int i = 0; i <= rank; i++)
    CHECK_EQUAL(numbers[i], rank * 1000 + i);
  CHECK_OK(MPI_File_seek_shared(file, 3, MPI_SEEK_SET));
  CHECK_OK(MPI_File_read_ordered_begin(file, numbers, rank + 1, MPI_INT));
  CHECK_OK(MPI_File_read_ordered_end(file, numbers, &status));
  CHECK_EQUAL(numbers[rank], rank * 1000 + rank);
  // The individual pointer has not moved.
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, 0);
  free(numbers);
}

int main(int argc, char** argv) {
  begin_test(&argc, &argv);
  MPI_File file =
      open_for_all("shared", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  records_are_separate(file);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_set_size(file, 0));
  order_is_that_of_ranks(file);
  CHECK_OK(MPI_File_seek_shared(file, -1, MPI_SEEK_END));
  // One rank gets the last number, the others find the end.
  int last = -1, found = 0, sum = 0;
  MPI_Request request;
  MPI_Status status;
  CHECK_OK(MPI_File_iread_shared(file, &last, 1, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  found = count_in(&status, MPI_INT);
  CHECK_EQUAL(last, found == 0 ? -1 : (size - 1) * 1000 + size - 1);
  MPI_Allreduce(&found, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, 1);
  CHECK_OK(MPI_File_close(&file));
  end_test();
  return 0;
}
