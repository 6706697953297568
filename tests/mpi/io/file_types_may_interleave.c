// A file type whose extent is shorter than its data, as a struct has it in which only some members
// carry bounds of their own (HDF5 writes chunks so). An access of one repetition is as any other;
// one that goes on in the next repetition would go back in the file, and is an error.
#include "io_check.h"

enum { cell_bytes = 16, data_bytes = 12 };

/// Bytes 0 to 7 and 12 to 15; the bounds are those of the second member: 12 and 12 + extent.
static MPI_Datatype two_members(int extent) {
  MPI_Datatype four, bounded, both;
  MPI_Type_contiguous(4, MPI_BYTE, &four);
  MPI_Type_create_resized(four, 0, extent, &bounded);
  const int lengths[2] = {8, 1};
  const MPI_Aint displacements[2] = {0, 12};
  const MPI_Datatype types[2] = {MPI_BYTE, bounded};
  MPI_Type_create_struct(2, lengths, displacements, types, &both);
  MPI_Type_commit(&both);
  MPI_Type_free(&four);
  MPI_Type_free(&bounded);
  MPI_Aint lower, whole;
  MPI_Type_get_extent(both, &lower, &whole);
  CHECK(lower == 12 && whole == extent);
  return both;
}

static unsigned char byte_of(int writer, int i) {
  return (unsigned char)(writer * 31 + i + 1);
}

static void check_file(const char* path) {
  unsigned char cell[cell_bytes];
  const int file = open(path, O_RDONLY);
  for (int writer = 0; writer < size; writer++) {
    CHECK_EQUAL(read(file, cell, sizeof cell), cell_bytes);
    for (int i = 0; i < cell_bytes; i++) {
      if (i < 8) CHECK_EQUAL(cell[i], byte_of(writer, i));
      if (i >= 8 && i < 12) CHECK_EQUAL(cell[i], 0);
      if (i >= 12) CHECK_EQUAL(cell[i], byte_of(writer, i - 4));
    }
  }
  close(file);
}

static void one_way(int extent, int is_collective, const char* buffering) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", buffering);
  MPI_Info_set(info, "romio_cb_read", buffering);
  MPI_File file;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, test_path("cells"),
                         MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
  MPI_Info_free(&info);
  MPI_Datatype type = two_members(extent);
  CHECK_OK(MPI_File_set_view(file, (MPI_Offset)rank * cell_bytes, MPI_BYTE, type, "native",
                             MPI_INFO_NULL));
  MPI_Type_free(&type);
  unsigned char data[2 * data_bytes] = {0}, read_back[2 * data_bytes] = {0};
  for (int i = 0; i < data_bytes; i++)
    data[i] = byte_of(rank, i);
  MPI_Status status;
  CHECK_OK(is_collective ? MPI_File_write_all(file, data, data_bytes, MPI_BYTE, &status)
                         : MPI_File_write(file, data, data_bytes, MPI_BYTE, &status));
  CHECK_EQUAL(count_in(&status, MPI_BYTE), data_bytes);
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) check_file(test_path("cells"));
  CHECK_OK(is_collective
               ? MPI_File_read_at_all(file, 3, read_back, data_bytes - 3, MPI_BYTE, &status)
               : MPI_File_read_at(file, 3, read_back, data_bytes - 3, MPI_BYTE, &status));
  CHECK_EQUAL(count_in(&status, MPI_BYTE), data_bytes - 3);
  for (int i = 3; i < data_bytes; i++)
    CHECK_EQUAL(read_back[i - 3], data[i]);
  CHECK_CLASS(is_collective
                  ? MPI_File_write_at_all(file, 0, data, data_bytes + 1, MPI_BYTE, &status)
                  : MPI_File_write_at(file, data_bytes - 1, data, 2, MPI_BYTE, &status),
              MPI_ERR_IO);
  // Repetitions that overlap may be read.
  CHECK_CLASS(MPI_File_read_at(file, 0, read_back, data_bytes + 1, MPI_BYTE, &status),
              extent == 6 ? MPI_ERR_IO : MPI_SUCCESS);
  if (extent != 6) CHECK_EQUAL(read_back[data_bytes], byte_of(rank, extent - 4));
  CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char** argv) {
  begin_test(&argc, &argv);
  // The next repetition begins in the gap, or in the last run.
  for (int extent = 6; extent <= 14; extent += 8) {
    one_way(extent, 0, "automatic");
    one_way(extent, 1, "automatic");
    one_way(extent, 1, "enable");
    one_way(extent, 1, "disable");
  }
  end_test();
  return 0;
}
