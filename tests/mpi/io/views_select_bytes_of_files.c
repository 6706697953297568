// The bytes that each way of writing puts into a file, and each way of reading takes from it,
// through random views: the cells of a tile are divided among the ranks at random, and some belong
// to no rank. What the file must hold is known; cells of no rank stay as they were.
#include "io_check.h"

enum { cells_max = 600, tile_count = 7, header_bytes = 13 };

/// Cell c of a tile belongs to owner[c]; -1: to no rank.
static int owner[cells_max], cell_count, cell_bytes;

static unsigned char byte_at(long long offset) {
  return (unsigned char)((offset * 2654435761u) >> 7);
}

static void divide_cells(uint64_t* seed) {
  cell_bytes = 1 + random_below(seed, 24);
  cell_count = size + random_below(seed, cells_max - (size < cells_max ? size : 0));
  if (cell_count > cells_max) cell_count = cells_max;
  const int run_max = 1 + random_below(seed, 9);
  for (int c = 0; c < cell_count;) {
    const int next = random_below(seed, size + 1) - 1;
    for (int run = 1 + random_below(seed, run_max); run > 0 && c < cell_count; run--)
      owner[c++] = next;
  }
}

/// The cells of this rank, and their number.
static MPI_Datatype own_cells(MPI_Datatype cell, int* count) {
  int displacements[cells_max];
  *count = 0;
  for (int c = 0; c < cell_count; c++) {
    if (owner[c] == rank) displacements[(*count)++] = c;
  }
  MPI_Datatype cells, tile;
  MPI_Type_create_indexed_block(*count, 1, displacements, cell, &cells);
  MPI_Type_create_resized(cells, 0, (MPI_Aint)cell_count * cell_bytes, &tile);
  MPI_Type_commit(&tile);
  MPI_Type_free(&cells);
  return tile;
}

/// Byte k of the data of this rank: its offset in the file.
static long long offset_of(int count, long long k) {
  const long long cell = k / cell_bytes, tile = cell / count;
  int c = -1;
  for (long long left = cell % count; left >= 0; left--) {
    do {
      c++;
    } while (owner[c] != rank);
  }
  return header_bytes + (tile * cell_count + c) * cell_bytes + k % cell_bytes;
}

typedef struct {
  MPI_File file;
  int count;
  /// In memory: dense, or with a gap behind each cell.
  MPI_Datatype type;
  int stride;
} Access;

static int elements(const Access* access) {
  return access->count * tile_count;
}

static void write_in_way(const Access* access, int way, const void* data) {
  MPI_Status status;
  MPI_Request request;
  MPI_File file = access->file;
  const int n = elements(access), half = n / 2;
  const char* second = (const char*)data + (size_t)half * (size_t)access->stride;
  switch (way) {
    case 0:
      CHECK_OK(MPI_File_write_all(file, data, n, access->type, &status));
      CHECK_EQUAL(count_in(&status, access->type), n);
      return;
    case 1:
      CHECK_OK(MPI_File_write(file, data, half, access->type, &status));
      CHECK_EQUAL(count_in(&status, access->type), half);
      CHECK_OK(MPI_File_write(file, second, n - half, access->type, MPI_STATUS_IGNORE));
      return;
    case 2:
      CHECK_OK(MPI_File_write_at(file, half, second, n - half, access->type, &status));
      CHECK_OK(MPI_File_write_at_c(file, 0, data, half, access->type, &status));
      return;
    case 3:
      CHECK_OK(MPI_File_write_at_all_begin(file, 0, data, n, access->type));
      CHECK_OK(MPI_File_write_at_all_end(file, data, &status));
      CHECK_EQUAL(count_in(&status, access->type), n);
      return;
    case 4:
      CHECK_OK(MPI_File_iwrite_all(file, data, half, access->type, &request));
      {
        MPI_Request other;
        CHECK_OK(MPI_File_iwrite_all(file, second, n - half, access->type, &other));
        CHECK_OK(MPI_Wait(&other, &status));
        CHECK_EQUAL(count_in(&status, access->type), n - half);
      }
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
      return;
    default:
      CHECK_OK(MPI_File_iwrite(file, data, n, access->type, &request));
      CHECK_OK(MPI_Wait(&request, &status));
      CHECK_EQUAL(count_in(&status, access->type), n);
  }
}

static void read_in_way(const Access* access, int way, void* data) {
  MPI_Status status;
  MPI_Request request;
  MPI_File file = access->file;
  const int n = elements(access);
  switch (way) {
    case 0:
      CHECK_OK(MPI_File_read_at_all(file, 0, data, n, access->type, &status));
      break;
    case 1:
      CHECK_OK(MPI_File_read(file, data, n, access->type, &status));
      break;
    case 2:
      CHECK_OK(MPI_File_read_all_begin(file, data, n, access->type));
      CHECK_OK(MPI_File_read_all_end(file, data, &status));
      break;
    case 3:
      CHECK_OK(MPI_File_iread_at_all(file, 0, data, n, access->type, &request));
      CHECK_OK(MPI_Wait(&request, &status));
      break;
    case 4:
      CHECK_OK(MPI_File_iread_at(file, 0, data, n, access->type, &request));
      CHECK_OK(MPI_Wait(&request, &status));
      break;
    default:
      CHECK_OK(MPI_File_read_all_c(file, data, n, access->type, &status));
  }
  CHECK_EQUAL(count_in(&status, access->type), n);
}

static void check_file(const char* path) {
  const long long bytes = header_bytes + (long long)tile_count * cell_count * cell_bytes;
  const int file = open(path, O_RDONLY);
  unsigned char* data = malloc((size_t)bytes);
  CHECK_EQUAL(read(file, data, (size_t)bytes), bytes);
  close(file);
  for (long long i = 0; i < bytes; i++) {
    const long long cell = (i - header_bytes) / cell_bytes;
    const int is_owned = i >= header_bytes && owner[cell % cell_count] >= 0;
    CHECK_EQUAL(data[i], is_owned ? byte_at(i) : 0xee);
  }
  free(data);
}

static void fill_file(const char* path) {
  const size_t bytes = header_bytes + (size_t)tile_count * (size_t)cell_count * (size_t)cell_bytes;
  unsigned char* data = malloc(bytes);
  memset(data, 0xee, bytes);
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK_EQUAL(write(file, data, bytes), (long long)bytes);
  close(file);
  free(data);
}

static MPI_Info hints_of(uint64_t* seed) {
  static const char* const buffering[] = {"automatic", "enable", "disable"};
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", buffering[random_below(seed, 3)]);
  MPI_Info_set(info, "romio_cb_read", buffering[random_below(seed, 3)]);
  if (random_below(seed, 2)) MPI_Info_set(info, "cb_buffer_size", "4096");
  if (random_below(seed, 2)) MPI_Info_set(info, "cb_nodes", "1");
  return info;
}

static void one_round(uint64_t* seed) {
  divide_cells(seed);
  const int write_way = random_below(seed, 6), read_way = random_below(seed, 6);
  const int gap = random_below(seed, 2) * 3;
  MPI_Info info = hints_of(seed);
  MPI_Datatype cell, memory;
  MPI_Type_contiguous(cell_bytes, MPI_BYTE, &cell);
  MPI_Type_commit(&cell);
  MPI_Type_create_resized(cell, 0, cell_bytes + gap, &memory);
  MPI_Type_commit(&memory);
  Access access = {.type = memory, .stride = cell_bytes + gap};
  MPI_Datatype tile = own_cells(cell, &access.count);
  if (rank == 0) fill_file(test_path("cells"));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, test_path("cells"), MPI_MODE_RDWR, info, &access.file));
  CHECK_OK(MPI_File_set_view(access.file, header_bytes, cell, tile, "native", info));
  MPI_Info_free(&info);
  const size_t bytes = (size_t)elements(&access) * (size_t)access.stride + 1;
  unsigned char* data = malloc(bytes);
  memset(data, 0x11, bytes);
  for (long long k = 0; k < (long long)elements(&access) * cell_bytes; k++)
    data[k / cell_bytes * access.stride + k % cell_bytes] = byte_at(offset_of(access.count, k));
  write_in_way(&access, write_way, data);
  MPI_Offset position;
  CHECK_OK(MPI_File_get_position(access.file, &position));
  CHECK_EQUAL(position, write_way == 2 || write_way == 3 ? 0 : elements(&access));
  CHECK_OK(MPI_File_seek(access.file, 0, MPI_SEEK_SET));
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == size - 1) check_file(test_path("cells"));
  unsigned char* again = malloc(bytes);
  memset(again, 0x11, bytes);
  read_in_way(&access, read_way, again);
  CHECK_EQUAL(memcmp(data, again, bytes), 0);
  if (access.count > 0) {
    CHECK_OK(MPI_File_get_byte_offset(access.file, access.count + 1, &position));
    CHECK_EQUAL(position, offset_of(access.count, (long long)(access.count + 1) * cell_bytes));
  }
  free(data);
  free(again);
  MPI_Type_free(&cell);
  MPI_Type_free(&memory);
  MPI_Type_free(&tile);
  CHECK_OK(MPI_File_close(&access.file));
  CHECK(access.file == MPI_FILE_NULL);
}

int main(int argc, char** argv) {
  begin_test(&argc, &argv);
  uint64_t seed = random_seed(17);
  for (int i = 0; i < 12; i++)
    one_round(&seed);
  if (rank == 0) CHECK_OK(MPI_File_delete(test_path("cells"), MPI_INFO_NULL));
  end_test();
  return 0;
}
