// Data representations: external32, and one with the program's own functions.
#include "io_check.h"

static void external(void) {
  MPI_File file = open_for_all("external", MPI_MODE_CREATE | MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  const int number = 0x01020304 + rank;
  int read = 0;
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, rank, &number, 1, MPI_INT, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), 1);
  CHECK_OK(MPI_File_sync(file));
  CHECK_OK(MPI_File_read_at(file, rank, &read, 1, MPI_INT, &status));
  CHECK_EQUAL(read, number);
  MPI_Aint extent;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
  CHECK_EQUAL(extent, 4);
  // Longs have four bytes there.
  CHECK_OK(MPI_File_set_view(file, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
  long numbers[3] = {0, 0, 0};
  CHECK_OK(MPI_File_read_at_all(file, size - 1, numbers, 3, MPI_LONG, &status));
  CHECK_EQUAL(count_in(&status, MPI_LONG), 1);
  CHECK_EQUAL(numbers[0], 0x01020304 + size - 1);
  MPI_Barrier(MPI_COMM_WORLD);
  numbers[1] = (long)1 << 40;
  CHECK_CLASS(MPI_File_write_at(file, 2 * size, &numbers[1], 1, MPI_LONG, MPI_STATUS_IGNORE),
              MPI_ERR_CONVERSION);
  MPI_Datatype gaps;
  MPI_Type_vector(2, 1, 2, MPI_LONG, &gaps);
  MPI_Type_commit(&gaps);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_LONG, gaps, "external32", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  MPI_Type_free(&gaps);
  // Interleaved ranks.
  MPI_Type_create_resized(MPI_DOUBLE, 0, 8 * size, &gaps);
  MPI_Type_commit(&gaps);
  CHECK_OK(MPI_File_set_view(file, 8 * rank, MPI_DOUBLE, gaps, "external32", MPI_INFO_NULL));
  double values[40], again[40];
  for (int i = 0; i < 40; i++)
    values[i] = i * 0.3 + rank;
  CHECK_OK(MPI_File_write_all(file, values, 40, MPI_DOUBLE, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
  CHECK_OK(MPI_File_read_all(file, again, 40, MPI_DOUBLE, &status));
  CHECK_EQUAL(memcmp(values, again, sizeof values), 0);
  MPI_Type_free(&gaps);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  unsigned char bytes[8];
  CHECK_OK(MPI_File_read_at(file, 8 * rank, bytes, 8, MPI_BYTE, MPI_STATUS_IGNORE));
  const unsigned char* native = (const unsigned char*)values;
  for (int i = 0; i < 8; i++)
    CHECK_EQUAL(bytes[i], native[7 - i]);
  CHECK_OK(MPI_File_close(&file));
  if (rank == 0) CHECK_OK(MPI_File_delete(test_path("external"), MPI_INFO_NULL));
}

/// A file of decimal digits: each int is eight characters.
enum { digits = 8 };

static int used_state;

static int extent_in_file(MPI_Datatype type, MPI_Aint* extent, void* state) {
  (void)type;
  CHECK(state == &used_state);
  *extent = digits;
  return MPI_SUCCESS;
}

static int write_digits(
    void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  CHECK(type == MPI_INT && state == &used_state);
  for (int i = 0; i < count; i++) {
    char text[digits + 1];
    snprintf(text, sizeof text, "%08u", (unsigned)((int*)memory)[position + i] % 100000000u);
    memcpy((char*)file + digits * i, text, digits);
  }
  return MPI_SUCCESS;
}

static int read_digits(
    void* memory, MPI_Datatype type, int count, void* file, MPI_Offset position, void* state) {
  CHECK(type == MPI_INT && state == &used_state);
  for (int i = 0; i < count; i++) {
    char text[digits + 1] = "";
    memcpy(text, (char*)file + digits * i, digits);
    if (text[0] == 'x') return MPI_ERR_CONVERSION;
    ((int*)memory)[position + i] = atoi(text);
  }
  return MPI_SUCCESS;
}

static void own_functions(void) {
  CHECK_OK(MPI_Register_datarep("digits", read_digits, write_digits, extent_in_file, &used_state));
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(
      MPI_Register_datarep("digits", read_digits, write_digits, extent_in_file, &used_state),
      MPI_ERR_DUP_DATAREP);
  CHECK_CLASS(MPI_Register_datarep_c("native", MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C,
                                     extent_in_file, &used_state),
              MPI_ERR_DUP_DATAREP);
  MPI_File file =
      open_for_all("digits", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "digits", MPI_INFO_NULL));
  MPI_Aint extent;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
  CHECK_EQUAL(extent, digits);
  // From every second int of memory.
  int numbers[6] = {rank, -1, 1000 + rank, -1, 2000 + rank, -1};
  MPI_Datatype second;
  MPI_Type_vector(3, 1, 2, MPI_INT, &second);
  MPI_Type_commit(&second);
  MPI_Status status;
  CHECK_OK(MPI_File_write_at_all(file, 3 * rank, numbers, 1, second, &status));
  CHECK_EQUAL(count_in(&status, second), 1);
  CHECK_OK(MPI_File_sync(file));
  int read[4] = {0, 0, 0, 0};
  CHECK_OK(MPI_File_read_at(file, 3 * rank, read, 3, MPI_INT, &status));
  CHECK(read[0] == rank && read[1] == 1000 + rank && read[2] == 2000 + rank);
  CHECK_OK(MPI_File_read_at(file, 3 * size - 2, read, 4, MPI_INT, &status));
  CHECK_EQUAL(count_in(&status, MPI_INT), 2);
  CHECK_CLASS(MPI_File_read(file, read, 1, MPI_FLOAT, &status), MPI_ERR_TYPE);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
  char text[digits];
  CHECK_OK(MPI_File_read_at(file, digits, text, digits, MPI_CHAR, &status));
  CHECK_EQUAL(memcmp(text, "00001000", digits), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_write_at(file, 0, "x", 1, MPI_CHAR, &status));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "digits", MPI_INFO_NULL));
  CHECK_CLASS(MPI_File_read(file, read, 1, MPI_INT, &status), MPI_ERR_CONVERSION);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, second, "digits", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  MPI_Type_free(&second);
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin_test(&argc, &argv);
  external();
  own_functions();
  end_test();
  return 0;
}
