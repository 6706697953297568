// The ends of files: reads return what is there, for every way of reading; holes are zero; offsets
// beyond 2 GiB; accesses without data; a file opened by several communicators at once.
#include "io_check.h"

/// Rank r reads 10 numbers at 10 r; the file has 10 size - 3.
static void short_reads(void) {
  const int total = 10 * size - 3;
  MPI_File file = open_for_all("short", MPI_MODE_CREATE | MPI_MODE_RDWR);
  const int own = rank == size - 1 ? 7 : 10;
  int numbers[10], read[10];
  for (int i = 0; i < 10; i++)
    numbers[i] = 10 * rank + i;
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write_at_all(file, 10 * rank, numbers, own, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_sync(file));
  for (int way = 0; way < 4; way++) {
    MPI_Status status;
    MPI_Request request;
    memset(read, -1, sizeof read);
    MPI_Barrier(MPI_COMM_WORLD);
    if (way == 0) CHECK_OK(MPI_File_read_at(file, 10 * rank, read, 10, MPI_INT, &status));
    if (way == 1) CHECK_OK(MPI_File_read_at_all(file, 10 * rank, read, 10, MPI_INT, &status));
    if (way == 2) {
      CHECK_OK(MPI_File_iread_at(file, 10 * rank, read, 10, MPI_INT, &request));
      CHECK_OK(MPI_Wait(&request, &status));
    }
    if (way == 3) {
      CHECK_OK(MPI_File_iread_at_all(file, 10 * rank, read, 10, MPI_INT, &request));
      CHECK_OK(MPI_Wait(&request, &status));
    }
    CHECK_EQUAL(count_in(&status, MPI_INT), own);
    for (int i = 0; i < 10; i++)
      CHECK_EQUAL(read[i], i < own ? numbers[i] : -1);
  }
  MPI_Status status;
  CHECK_OK(MPI_File_read_at(file, total, read, 10, MPI_INT, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), 0);
  // The pointer goes no further than what was read.
  MPI_Offset position;
  CHECK_OK(MPI_File_seek(file, -2, MPI_SEEK_END));
  CHECK_OK(MPI_File_read(file, read, 10, MPI_INT, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), 2);
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, total);
  // With gaps: every second number.
  MPI_Datatype pair;
  MPI_Type_create_resized(MPI_INT, 0, 8, &pair);
  MPI_Type_commit(&pair);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, pair, "native", MPI_INFO_NULL));
  int* half = calloc((size_t)total, sizeof(int));
  CHECK_OK(MPI_File_read_all(file, half, total, MPI_INT, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), (total + 1) / 2);
  for (int i = 0; i < (total + 1) / 2; i++)
    CHECK_EQUAL(half[i], 2 * i);
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_END));
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, (total + 1) / 2);
  free(half);
  MPI_Type_free(&pair);
  CHECK_OK(MPI_File_close(&file));
  if (rank == 0) CHECK_OK(MPI_File_delete(test_path("short"), MPI_INFO_NULL));
}

static void far_offsets(void) {
  const MPI_Offset far = (MPI_Offset)5 << 30;
  MPI_File file = open_for_all("far", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(MPI_File_set_view(file, far, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  const int number = rank + 1;
  CHECK_OK(MPI_File_write_at_all(file, 2 * rank, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Offset bytes;
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK_EQUAL(bytes, far + 8 * size - 4);
  int read[2] = {-1, -1};
  const int next = (rank + 1) % size;
  MPI_Status status;
  CHECK_OK(MPI_File_read_at(file, 2 * next, read, 2, MPI_INT, &status));
  CHECK_EQUAL(read[0], next + 1);
  CHECK_EQUAL(read[1], next == size - 1 ? -1 : 0);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at(file, far - 4, read, 2, MPI_INT, &status));
  CHECK(read[0] == 0 && read[1] == 1);
  // The last offsets that there are.
  CHECK_CLASS(MPI_File_write_at(file, INT64_MAX - 1, read, 2, MPI_INT, &status), MPI_ERR_ARG);
  CHECK_OK(MPI_File_close(&file));
}

static void nothing(void) {
  MPI_File file = open_for_all("empty", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Status status;
  MPI_Request request;
  CHECK_OK(MPI_File_write(file, NULL, 0, MPI_INT, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), 0);
  CHECK_OK(MPI_File_write_all(file, NULL, 0, MPI_INT, &status));
  CHECK_OK(MPI_File_iread_all(file, NULL, 0, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_File_iread_shared(file, NULL, 0, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, &status));
  CHECK_OK(MPI_File_read_ordered(file, NULL, 0, MPI_INT, &status));
  MPI_Offset bytes;
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK_EQUAL(bytes, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  // Only one rank has data.
  CHECK_OK(MPI_File_write_at_all(file, 3, "abc", rank == size / 2 ? 3 : 0, MPI_CHAR, &status));
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK_EQUAL(bytes, 6);
  CHECK_OK(MPI_File_close(&file));
}

/// Each rank opens the file for itself and writes between the others' numbers: no data is
/// lost, although strided pieces are written together.
static void writers_do_not_disturb_each_other(void) {
  enum { count = 500 };

  MPI_File file;
  MPI_Datatype stride;
  if (rank == 0) {
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, test_path("many"), MPI_MODE_CREATE | MPI_MODE_RDWR,
                           MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_close(&file));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, test_path("many"), MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  MPI_Type_create_resized(MPI_INT, 0, 4 * size, &stride);
  MPI_Type_commit(&stride);
  CHECK_OK(MPI_File_set_view(file, 4 * rank, MPI_INT, stride, "native", MPI_INFO_NULL));
  int numbers[count];
  for (int i = 0; i < count; i++)
    numbers[i] = 1 + i * size + rank;
  for (int i = 0; i < count; i += 50) {
    CHECK_OK(MPI_File_write(file, numbers + i, 50, MPI_INT, MPI_STATUS_IGNORE));
  }
  CHECK_OK(MPI_File_close(&file));
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_for_all("many", MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(MPI_File_set_view(file, 4 * rank, MPI_INT, stride, "native", MPI_INFO_NULL));
  int read[count];
  CHECK_OK(MPI_File_read(file, read, count, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQUAL(memcmp(numbers, read, sizeof read), 0);
  MPI_Type_free(&stride);
  CHECK_OK(MPI_File_close(&file));
}

/// An access keeps the view that it was started with.
static void views_change_behind_accesses(void) {
  MPI_File file = open_for_all("views", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);

  enum { count = 3 };

  MPI_Request requests[count];
  for (int i = 0; i < count; i++) {
    CHECK_OK(MPI_File_set_view(file, 4 * size * i, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_iwrite_at_all(file, rank, &rank, 1, MPI_INT, &requests[i]));
  }
  CHECK_OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  for (int i = 0; i < count; i++) {
    int read = -1;
    CHECK_OK(MPI_File_read_at(file, size * i + rank, &read, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(read, rank);
  }
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin_test(&argc, &argv);
  short_reads();
  far_offsets();
  nothing();
  views_change_behind_accesses();
  writers_do_not_disturb_each_other();
  end_test();
  return 0;
}
