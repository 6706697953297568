// Opening in each mode, the properties of a file, its size, and what is left of it.
#include "io_check.h"

static long long size_on_disk(const char* name) {
  struct stat about;
  return stat(test_path(name), &about) == 0 ? (long long)about.st_size : -1;
}

static void sizes(void) {
  MPI_File file = open_for_all("sizes", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL);
  MPI_Offset bytes = -1;
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK_EQUAL(bytes, 0);
  CHECK_OK(MPI_File_set_size(file, 1000));
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK_EQUAL(bytes, 1000);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_preallocate(file, 5000));
  CHECK_OK(MPI_File_preallocate(file, 10));
  CHECK_OK(MPI_File_get_size(file, &bytes));
  CHECK_EQUAL(bytes, 5000);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_set_size(file, 7));
  CHECK_OK(MPI_File_sync(file));
  CHECK_EQUAL(size_on_disk("sizes"), 7);
  CHECK_OK(MPI_File_close(&file));
  // It exists.
  MPI_File_open(MPI_COMM_WORLD, test_path("sizes"), MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL,
                MPI_INFO_NULL, &file);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, test_path("sizes"),
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_EXCL, MPI_INFO_NULL, &file),
              MPI_ERR_FILE_EXISTS);
}

static void properties(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "cb_buffer_size", "65536");
  MPI_Info_set(info, "access_style", "write_once");
  MPI_Info_set(info, "nobody_knows_this", "value");
  MPI_File file;
  const int amode = MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, test_path("sizes"), amode, info, &file));
  MPI_Info_free(&info);
  int found, equal;
  CHECK_OK(MPI_File_get_amode(file, &found));
  CHECK_EQUAL(found, amode);
  MPI_Group group, world;
  CHECK_OK(MPI_File_get_group(file, &group));
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(group, world, &equal);
  CHECK_EQUAL(equal, MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  char value[MPI_MAX_INFO_VAL];
  CHECK_OK(MPI_File_get_info(file, &info));
  MPI_Info_get(info, "cb_buffer_size", 32, value, &found);
  CHECK(found && strcmp(value, "65536") == 0);
  // What the library ignores is not returned.
  MPI_Info_get(info, "nobody_knows_this", 32, value, &found);
  CHECK(!found);
  MPI_Info_get(info, "access_style", 32, value, &found);
  CHECK(!found);
  MPI_Info_free(&info);
  MPI_Info_create(&info);
  MPI_Info_set(info, "nobody_knows_this", "value");
  MPI_Info_set(info, "cb_nodes", "many");
  MPI_Info_set(info, "collective_buffering", "true");
  MPI_Info_set(info, "cb_buffer_size", "131072");
  CHECK_OK(MPI_File_set_info(file, info));
  MPI_Info_free(&info);
  CHECK_OK(MPI_File_get_info(file, &info));
  MPI_Info_get(info, "cb_buffer_size", 32, value, &found);
  CHECK(found && strcmp(value, "131072") == 0);
  MPI_Info_get(info, "nobody_knows_this", 32, value, &found);
  CHECK(!found);
  MPI_Info_get(info, "cb_nodes", 32, value, &found);
  CHECK(!found);
  MPI_Info_get(info, "collective_buffering", 32, value, &found);
  CHECK(found && strcmp(value, "true") == 0);
  MPI_Info_free(&info);
  MPI_Offset offset;
  MPI_Datatype etype, filetype;
  char name[MPI_MAX_DATAREP_STRING];
  CHECK_OK(MPI_File_get_view(file, &offset, &etype, &filetype, name));
  CHECK(offset == 0 && etype == MPI_BYTE && filetype == MPI_BYTE && strcmp(name, "native") == 0);
  MPI_Datatype made;
  MPI_Type_vector(3, 1, 2, MPI_INT, &made);
  MPI_Type_commit(&made);
  CHECK_OK(MPI_File_set_view(file, 11, MPI_INT, made, "internal", MPI_INFO_NULL));
  MPI_Type_free(&made);
  CHECK_OK(MPI_File_get_view(file, &offset, &etype, &filetype, name));
  CHECK(offset == 11 && etype == MPI_INT && strcmp(name, "internal") == 0);
  int integers, addresses, types, combiner;
  MPI_Type_get_envelope(filetype, &integers, &addresses, &types, &combiner);
  CHECK_EQUAL(combiner, MPI_COMBINER_VECTOR);
  MPI_Type_free(&filetype);
  MPI_Aint extent;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
  CHECK_EQUAL(extent, 4);
  CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
  CHECK_OK(MPI_File_close(&file));
}

static void modes(void) {
  MPI_File file = open_for_all("modes", MPI_MODE_CREATE | MPI_MODE_WRONLY);
  CHECK_OK(MPI_File_write_at(file, rank, "x", 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQUAL(size_on_disk("modes"), size);
  // Both pointers begin at the end.
  file = open_for_all("modes", MPI_MODE_APPEND | MPI_MODE_RDWR);
  MPI_Offset position;
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQUAL(position, size);
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQUAL(position, size);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_write_ordered(file, "y", 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQUAL(size_on_disk("modes"), 2 * size);
  // One after the other, from the begin: reading only, and deleted at the end.
  file = open_for_all("modes", MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE);
  char read = 0;
  CHECK_OK(MPI_File_read_shared(file, &read, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_EQUAL(read, 'x');
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native",
                             MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_ordered(file, &read, 1, MPI_CHAR, MPI_STATUS_IGNORE));
  CHECK_EQUAL(read, 'y');
  CHECK_CLASS(MPI_File_read(file, &read, 1, MPI_CHAR, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQUAL(size_on_disk("modes"), -1);
}

static void each_rank_alone(void) {
  char name[32];
  snprintf(name, sizeof name, "own-%d", rank);
  MPI_File file;
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, test_path(name),
                         MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &file));
  CHECK_OK(MPI_File_write_all(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
  int read = -1;
  MPI_Request request;
  CHECK_OK(MPI_File_iread_at_all(file, 0, &read, 1, MPI_INT, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQUAL(read, rank);
  CHECK_OK(MPI_File_close(&file));
  CHECK_EQUAL(size_on_disk(name), -1);
}

int main(int argc, char** argv) {
  begin_test(&argc, &argv);
  sizes();
  properties();
  modes();
  each_rank_alone();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK_OK(MPI_File_delete(test_path("sizes"), MPI_INFO_NULL));
  end_test();
  return 0;
}
