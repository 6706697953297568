// Errors of calls on files: their classes, and the error handlers that get them. By default they
// are returned; MPI_FILE_NULL has a handler for opening and deleting.
#include "io_check.h"

static int handler_calls, handler_code;
static MPI_File handler_file;

static void count_errors(MPI_File* file, int* code, ...) {
  handler_calls++;
  handler_file = *file;
  handler_code = *code;
}

static void for_communicators(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}

static void wrong_modes(void) {
  static const int wrong[] = {0,
                              MPI_MODE_RDONLY | MPI_MODE_WRONLY,
                              MPI_MODE_RDONLY | MPI_MODE_RDWR,
                              MPI_MODE_RDONLY | MPI_MODE_CREATE,
                              MPI_MODE_RDONLY | MPI_MODE_EXCL,
                              MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
                              MPI_MODE_RDWR | 1 << 20};
  MPI_File file = MPI_FILE_NULL;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, test_path("file"), wrong[i], MPI_INFO_NULL, &file),
                MPI_ERR_AMODE);
  if (size > 1)
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, test_path("file"),
                              rank == 0 ? MPI_MODE_CREATE | MPI_MODE_RDWR : MPI_MODE_RDWR,
                              MPI_INFO_NULL, &file),
                MPI_ERR_NOT_SAME);
  CHECK(file == MPI_FILE_NULL);
}

static void no_file(void) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Offset offset;
  CHECK_CLASS(
      MPI_File_open(MPI_COMM_WORLD, test_path("absent"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
      MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, test_folder, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
              MPI_ERR_BAD_FILE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, test_path("absent/file"),
                            MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
              MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_delete(test_path("absent"), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_get_size(MPI_FILE_NULL, &offset), MPI_ERR_FILE);
  CHECK_CLASS(MPI_File_close(&file), MPI_ERR_FILE);
}

static void wrong_arguments(MPI_File file) {
  char byte = 0;
  MPI_Offset offset;
  MPI_Request request = MPI_REQUEST_NULL;
  CHECK_CLASS(MPI_File_read(file, &byte, -1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_File_read(file, &byte, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_File_read(file, NULL, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_File_iwrite_at(file, -1, &byte, 1, MPI_CHAR, &request), MPI_ERR_ARG);
  CHECK(request == MPI_REQUEST_NULL);
  CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_get_byte_offset(file, -5, &offset), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_size(file, -1), MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_size(file, size > 1 ? rank : -1),
              size > 1 ? MPI_ERR_NOT_SAME : MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "unknown", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_CLASS(MPI_File_set_view(file, -7, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
  CHECK_CLASS(
      MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
      MPI_ERR_ARG);
  CHECK_CLASS(MPI_File_read_all_end(file, &byte, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
}

static void wrong_types(MPI_File file) {
  const int back[2] = {1, 0}, same[2] = {0, 0};
  MPI_Datatype type;
  MPI_Type_create_indexed_block(2, 1, back, MPI_INT, &type);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
  MPI_Type_commit(&type);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_IO);
  MPI_Type_free(&type);
  MPI_Type_create_indexed_block(2, 1, same, MPI_INT, &type);
  MPI_Type_commit(&type);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_IO);
  MPI_Type_free(&type);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_INT, "native", MPI_INFO_NULL),
              MPI_ERR_TYPE);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  char bytes[3] = {0};
  CHECK_CLASS(MPI_File_write(file, bytes, 3, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
}

static void split_accesses_are_one_at_a_time(MPI_File file) {
  int number = 7;
  CHECK_OK(MPI_File_write_all_begin(file, &number, 1, MPI_INT));
  CHECK_CLASS(MPI_File_read_all_begin(file, &number, 1, MPI_INT), MPI_ERR_OTHER);
  CHECK_CLASS(MPI_File_write_at_all_end(file, &number, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
  CHECK_CLASS(MPI_File_sync(file), MPI_ERR_OTHER);
  CHECK_CLASS(MPI_File_close(&file), MPI_ERR_OTHER);
  CHECK_OK(MPI_File_write_all_end(file, &number, MPI_STATUS_IGNORE));
}

/// One rank's arguments are wrong; the others finish.
static void one_rank_fails(MPI_File file) {
  int number = rank;
  const int error = MPI_File_write_at_all(file, rank, &number, rank == size - 1 ? -1 : 1, MPI_INT,
                                          MPI_STATUS_IGNORE);
  CHECK_CLASS(error, rank == size - 1 ? MPI_ERR_COUNT : MPI_SUCCESS);
  const int ordered =
      MPI_File_write_ordered(file, &number, rank == size - 1 ? -1 : 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK_CLASS(ordered, rank == size - 1 ? MPI_ERR_COUNT : MPI_SUCCESS);
}

static void wrong_directions(void) {
  char byte = 0;
  MPI_File file = open_for_all("file", MPI_MODE_WRONLY);
  CHECK_CLASS(MPI_File_read(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  CHECK_OK(MPI_File_close(&file));
  file = open_for_all("file", MPI_MODE_RDONLY);
  CHECK_CLASS(MPI_File_write(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
  CHECK_CLASS(MPI_File_write_ordered(file, &byte, 1, MPI_CHAR, MPI_STATUS_IGNORE),
              MPI_ERR_READ_ONLY);
  CHECK_CLASS(MPI_File_set_size(file, 9), MPI_ERR_READ_ONLY);
  CHECK_OK(MPI_File_close(&file));
}

static void handlers(void) {
  MPI_Errhandler handler, found;
  CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  MPI_File_create_errhandler(count_errors, &handler);
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
  MPI_File file = MPI_FILE_NULL;
  CHECK_CLASS(
      MPI_File_open(MPI_COMM_WORLD, test_path("absent"), MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
      MPI_ERR_NO_SUCH_FILE);
  CHECK(handler_calls == 1 && handler_file == MPI_FILE_NULL &&
        handler_code == MPI_ERR_NO_SUCH_FILE);
  file = open_for_all("file", MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  // The file has the handler that MPI_FILE_NULL had.
  CHECK_OK(MPI_File_get_errhandler(file, &found));
  CHECK(found == handler);
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&handler);
  CHECK_CLASS(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
  CHECK(handler_calls == 2 && handler_file == file);
  CHECK_OK(MPI_File_call_errhandler(file, MPI_ERR_IO));
  CHECK(handler_calls == 3 && handler_code == MPI_ERR_IO);
  CHECK_OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
  CHECK_EQUAL(handler_calls, 3);
  MPI_Comm_create_errhandler(for_communicators, &handler);
  CHECK_CLASS(MPI_File_set_errhandler(file, handler), MPI_ERR_ERRHANDLER);
  CHECK_EQUAL(handler_calls, 4);
  MPI_Errhandler_free(&handler);
  CHECK_OK(MPI_File_close(&file));
}

/// A device that is always full: the error of a nonblocking access comes with its completion.
static void no_space(void) {
  MPI_File file;
  if (access("/dev/full", W_OK) != 0) return;
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
  CHECK_CLASS(MPI_File_write(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  CHECK_CLASS(MPI_File_write_all(file, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  MPI_Errhandler handler;
  MPI_File_create_errhandler(count_errors, &handler);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  MPI_Request request;
  handler_calls = 0;
  CHECK_OK(MPI_File_iwrite(file, "x", 1, MPI_CHAR, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  CHECK(handler_calls == 1 && handler_file == file && handler_code == MPI_ERR_NO_SPACE);
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin_test(&argc, &argv);
  wrong_modes();
  no_file();
  MPI_File file = open_for_all("file", MPI_MODE_CREATE | MPI_MODE_RDWR);
  wrong_arguments(file);
  wrong_types(file);
  split_accesses_are_one_at_a_time(file);
  one_rank_fails(file);
  CHECK_OK(MPI_File_close(&file));
  wrong_directions();
  handlers();
  no_space();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK_OK(MPI_File_delete(test_path("file"), MPI_INFO_NULL));
  end_test();
  return 0;
}
