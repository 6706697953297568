// files FOLDER [SITUATION…]: situations of files that public trackers report (README.md).
#include "situations.h"

static char path[4096];

static MPI_File open_new(int mode) {
  MPI_File file;
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | mode, MPI_INFO_NULL, &file));
  return file;
}

// Open MPI 1631: with the default view MPI_File_get_byte_offset gave 0 for every offset.
static void byte_offsets_of_views(void) {
  MPI_File file = open_new(MPI_MODE_RDWR);
  MPI_Offset place = -1;
  for (int offset = 0; offset < 4; offset++) {
    MUST(MPI_File_get_byte_offset(file, offset, &place));
    CHECK_EQUAL(place, offset);
  }
  // Every third number, behind a head of 10 bytes.
  MPI_Datatype third;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &third);
  MPI_Type_commit(&third);
  MUST(MPI_File_set_view(file, 10, MPI_INT, third, "native", MPI_INFO_NULL));
  for (int offset = 0; offset < 4; offset++) {
    MUST(MPI_File_get_byte_offset(file, offset, &place));
    CHECK_EQUAL(place, 10 + 12 * offset);
  }
  MPI_Type_free(&third);
  MPI_File_close(&file);
}

// Open MPI 8266 and 6858: MPI_SEEK_END and MPI_MODE_APPEND led to other places than the end of the
// file.
static void the_end_is_the_end(void) {
  MPI_File file = open_new(MPI_MODE_RDWR);
  const int numbers[5] = {1, 2, 3, 4, 5};
  if (rank == 0) MUST(MPI_File_write_at(file, 0, numbers, 5, MPI_INT, MPI_STATUS_IGNORE));
  MUST(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(MPI_File_sync(file));
  MPI_Offset place = -1;
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  MUST(MPI_File_get_position(file, &place));
  CHECK_EQUAL(place, 20);
  MUST(MPI_File_seek(file, -6, MPI_SEEK_CUR));
  MUST(MPI_File_get_position(file, &place));
  CHECK_EQUAL(place, 14);
  // With holes, the end is the first element that lies wholly behind the last byte.
  MPI_Datatype third;
  MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &third);
  MPI_Type_commit(&third);
  MUST(MPI_File_set_view(file, 0, MPI_INT, third, "native", MPI_INFO_NULL));
  MUST(MPI_File_seek(file, 0, MPI_SEEK_END));
  MUST(MPI_File_get_position(file, &place));
  CHECK_EQUAL(place, 2);
  MPI_Type_free(&third);
  MPI_File_close(&file);
  MUST(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
  MUST(MPI_File_get_position(file, &place));
  CHECK_EQUAL(place, 20);
  MPI_File_close(&file);
}

// Open MPI 4990: a file opened with MPI_MODE_SEQUENTIAL could not be written in the order of ranks.
static void sequential_files_are_written_in_order(void) {
  MPI_File file = open_new(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  int numbers[10];
  for (int i = 0; i < 10; i++)
    numbers[i] = rank * 10 + i;
  MUST(MPI_File_write_ordered(file, numbers, 10, MPI_INT, MPI_STATUS_IGNORE));
  MUST(MPI_File_close(&file));
  MUST(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  for (int i = 0; i < size; i++) {
    MUST(MPI_File_read(file, numbers, 10, MPI_INT, MPI_STATUS_IGNORE));
    for (int k = 0; k < 10; k++)
      CHECK_EQUAL(numbers[k], i * 10 + k);
  }
  MPI_File_close(&file);
}

// MPICH 98: MPI_File_get_position_shared waited for ever if several ranks called it.
static void all_ask_for_the_shared_position(void) {
  MPI_File file = open_new(MPI_MODE_RDWR);
  MPI_Offset place = -1;
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 4; i++) {
      MUST(MPI_File_get_position_shared(file, &place));
      CHECK_EQUAL(place, (MPI_Offset)round * size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(MPI_File_write_shared(file, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
}

// MPICH 2347: at the end of a file the count of a read through a view with holes was that which was
// asked for.
static void counts_at_the_end_of_a_view(void) {
  MPI_File file = open_new(MPI_MODE_RDWR);
  // Seven blocks of two numbers, of which the view of this rank shows every size-th.
  int numbers[14], got[20], count = -1;
  for (int i = 0; i < 14; i++)
    numbers[i] = i;
  if (rank == 0) MUST(MPI_File_write_at(file, 0, numbers, 14, MPI_INT, MPI_STATUS_IGNORE));
  MUST(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(MPI_File_sync(file));
  MPI_Datatype two, view;
  MPI_Type_contiguous(2, MPI_INT, &two);
  MPI_Type_create_resized(two, 0, (MPI_Aint)(2 * sizeof(int)) * size, &view);
  MPI_Type_commit(&view);
  MUST(MPI_File_set_view(file, (MPI_Offset)(2 * sizeof(int)) * rank, MPI_INT, view, "native",
                         MPI_INFO_NULL));
  MPI_Status status;
  const int expected = rank < 7 ? 2 * ((7 - rank + size - 1) / size) : 0;
  for (int form = 0; form < 3; form++) {
    MUST(MPI_File_seek(file, 0, MPI_SEEK_SET));
    MPI_Request request;
    if (form == 0) MUST(MPI_File_read(file, got, 20, MPI_INT, &status));
    if (form == 1) MUST(MPI_File_read_all(file, got, 20, MPI_INT, &status));
    if (form == 2) {
      MUST(MPI_File_iread(file, got, 20, MPI_INT, &request));
      MUST(MPI_Wait(&request, &status));
    }
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK_EQUAL(count, expected);
    for (int i = 0; i < count; i++)
      CHECK_EQUAL(got[i], 2 * (rank + i / 2 * size) + i % 2);
  }
  MPI_Type_free(&view);
  MPI_Type_free(&two);
  MPI_File_close(&file);
}

// MPICH 6222: a collective write through views of which one shows nothing ended at an assertion.
static void a_member_without_data(void) {
  MPI_File file = open_new(MPI_MODE_RDWR);
  const int is_empty = rank == size - 1 && size > 1;
  int places[2] = {2 * rank, 2 * rank + 1}, numbers[2] = {100 + rank, 200 + rank};
  MPI_Datatype view;
  MPI_Type_create_indexed_block(is_empty ? 0 : 2, 1, places, MPI_INT, &view);
  MPI_Type_commit(&view);
  MUST(MPI_File_set_view(file, 0, MPI_INT, view, "native", MPI_INFO_NULL));
  MUST(MPI_File_write_all(file, numbers, is_empty ? 0 : 2, MPI_INT, MPI_STATUS_IGNORE));
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MPI_Offset bytes = -1;
  MUST(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(MPI_File_get_size(file, &bytes));
  const int writers = size > 1 ? size - 1 : 1;
  CHECK_EQUAL(bytes, 8 * writers);
  for (int i = 0; i < writers; i++) {
    MUST(MPI_File_read_at(file, 2 * i, numbers, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(numbers[0], 100 + i);
    CHECK_EQUAL(numbers[1], 200 + i);
  }
  MPI_Type_free(&view);
  MPI_File_close(&file);
}

// Open MPI 14012 and 14014: the representation "internal" was refused; extents in a file were those
// in memory.
static void representations_of_files(void) {
  MPI_File file = open_new(MPI_MODE_RDWR);
  MUST(MPI_File_set_view(file, 0, MPI_LONG_DOUBLE, MPI_LONG_DOUBLE, "internal", MPI_INFO_NULL));
  long double number = 1.5L + rank, got = 0;
  MUST(MPI_File_write_at(file, rank, &number, 1, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE));
  MUST(MPI_File_read_at(file, rank, &got, 1, MPI_LONG_DOUBLE, MPI_STATUS_IGNORE));
  CHECK(got == number);
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(MPI_File_set_view(file, 0, MPI_LONG_LONG, MPI_LONG_LONG, "external32", MPI_INFO_NULL));
  MPI_Aint extent = 0;
  MUST(MPI_File_get_type_extent(file, MPI_LONG_DOUBLE, &extent));
  CHECK_EQUAL(extent, 16);
  // A long has 4 bytes there.
  MUST(MPI_File_get_type_extent(file, MPI_LONG, &extent));
  CHECK_EQUAL(extent, 4);
  const long long value = 0x0102030405060708;
  unsigned char bytes[8];
  MUST(MPI_File_write_at(file, rank, &value, 1, MPI_LONG_LONG, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  MUST(MPI_File_read_at(file, 8 * rank, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE));
  for (int i = 0; i < 8; i++)
    CHECK_EQUAL(bytes[i], i + 1);
  MPI_File_close(&file);
}

// Open MPI 1191: a new view left the pointers where they were.
static void a_new_view_begins_at_its_begin(void) {
  MPI_File file = open_new(MPI_MODE_RDWR);
  MPI_Offset own = -1, shared = -1;
  MUST(MPI_File_seek(file, 10 * (rank + 1), MPI_SEEK_SET));
  MUST(MPI_File_write_shared(file, "abc", 3, MPI_BYTE, MPI_STATUS_IGNORE));
  MUST(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  MUST(MPI_File_get_position(file, &own));
  MUST(MPI_File_get_position_shared(file, &shared));
  CHECK_EQUAL(own, 0);
  CHECK_EQUAL(shared, 0);
  MPI_File_close(&file);
}

// MPICH 2088: a view of a type that is resized twice showed other places.
static void a_view_resized_twice(void) {
  MPI_File file = open_new(MPI_MODE_RDWR);
  const MPI_Aint one = sizeof(int);
  MPI_Datatype once, twice;
  MPI_Type_create_resized(MPI_INT, one, 3 * one, &once);
  MPI_Type_create_resized(once, one, 3 * one, &twice);
  MPI_Type_commit(&twice);
  if (rank == 0) {
    int zeros[12] = {0};
    MUST(MPI_File_write_at(file, 0, zeros, sizeof zeros, MPI_BYTE, MPI_STATUS_IGNORE));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(MPI_File_set_view(file, 0, MPI_INT, twice, "native", MPI_INFO_NULL));
  const int numbers[4] = {1, 2, 3, 4};
  if (rank == 0) MUST(MPI_File_write(file, numbers, 4, MPI_INT, MPI_STATUS_IGNORE));
  MUST(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  MUST(MPI_File_sync(file));
  MUST(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  int got[12];
  MUST(MPI_File_read_at(file, 0, got, 12, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < 12; i++)
    CHECK_EQUAL(got[i], i % 3 == 0 ? i / 3 + 1 : 0);
  MPI_Type_free(&twice);
  MPI_Type_free(&once);
  MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const Situation all[] = {
      {"byte_offsets_of_views", byte_offsets_of_views},
      {"the_end_is_the_end", the_end_is_the_end},
      {"sequential_files_are_written_in_order", sequential_files_are_written_in_order},
      {"all_ask_for_the_shared_position", all_ask_for_the_shared_position},
      {"counts_at_the_end_of_a_view", counts_at_the_end_of_a_view},
      {"a_member_without_data", a_member_without_data},
      {"representations_of_files", representations_of_files},
      {"a_new_view_begins_at_its_begin", a_new_view_begins_at_its_begin},
      {"a_view_resized_twice", a_view_resized_twice},
  };
  if (argc < 2) return 2;
  snprintf(path, sizeof path, "%s.data", argv[1]);
  argv[1] = argv[0];
  check_situations(all, COUNT_OF(all), argc - 1, argv + 1);
  if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
  MPI_Finalize();
  return 0;
}
