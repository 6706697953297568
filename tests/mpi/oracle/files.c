// files NAME [ROUNDS]: one file, written and read by all ranks in random ways, compared with a
// model of its bytes. In a round the file is divided into pieces in random order, each piece
// belongs to a rank, which writes it by explicit offset, by a view, collectively, nonblocking, or
// through the shared pointer; then every rank reads what others have written. All ranks draw the
// same numbers.
#include "../check.h"

enum { piece = 32, pieces_each = 6 };

static int rank, size;
static unsigned char* model;
static int pieces;  // of the file
static MPI_Offset bytes;
static uint64_t shared_random;

static void fail(const char* what, int round, MPI_Offset at, int found, int expected) {
  fprintf(stderr, "oracle files: round %d, %s: byte %lld (piece %lld) is %d at rank %d, not %d\n",
          round, what, (long long)at, (long long)at / piece, found, rank, expected);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check_bytes(
    const unsigned char* found, MPI_Offset at, int length, const char* what, int round) {
  for (int i = 0; i < length; i++)
    if (found[i] != model[at + i]) fail(what, round, at + i, found[i], model[at + i]);
}

/// The pieces of `member` in this round: consecutive entries of a permutation, made ascending.
static void pieces_of(const int* order, int member, int* mine) {
  for (int k = 0; k < pieces_each; k++)
    mine[k] = order[member * pieces_each + k];
  for (int i = 1; i < pieces_each; i++)
    for (int k = i; k > 0 && mine[k - 1] > mine[k]; k--) {
      const int swapped = mine[k];
      mine[k] = mine[k - 1];
      mine[k - 1] = swapped;
    }
}

static void fill(unsigned char* data, int number, uint64_t key) {
  for (int i = 0; i < piece; i++)
    data[i] = pattern_byte(key + (uint64_t)number * 131, (size_t)i);
}

/// A view that shows the given pieces only.
static void set_view(MPI_File file, const int* mine) {
  int places[pieces_each];
  for (int k = 0; k < pieces_each; k++)
    places[k] = mine[k] * piece;
  MPI_Datatype blocks, type;
  MPI_Type_create_indexed_block(pieces_each, piece, places, MPI_BYTE, &blocks);
  MPI_Type_create_resized(blocks, 0, bytes, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&type);
  MPI_Type_free(&blocks);
}

static void clear_view(MPI_File file) {
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
}

/// Writes or reads the pieces `mine` in the way that all members have drawn.
static void transfer(MPI_File file, int way, int is_write, const int* mine, unsigned char* data) {
  const int length = pieces_each * piece;
  MPI_Status status;
  MPI_Request requests[pieces_each];
  int count;
  switch (way) {
    case 0:
    case 1:
      for (int k = 0; k < pieces_each; k++) {
        const MPI_Offset at = (MPI_Offset)mine[k] * piece;
        unsigned char* part = data + k * piece;
        if (way == 0 && is_write) MPI_File_write_at(file, at, part, piece, MPI_BYTE, &status);
        if (way == 0 && !is_write) MPI_File_read_at(file, at, part, piece, MPI_BYTE, &status);
        if (way == 1 && is_write) MPI_File_iwrite_at(file, at, part, piece, MPI_BYTE, &requests[k]);
        if (way == 1 && !is_write) MPI_File_iread_at(file, at, part, piece, MPI_BYTE, &requests[k]);
      }
      if (way == 1) MPI_Waitall(pieces_each, requests, MPI_STATUSES_IGNORE);
      return;
    case 2:
      for (int k = 0; k < pieces_each; k++) {
        const MPI_Offset at = (MPI_Offset)mine[k] * piece;
        unsigned char* part = data + k * piece;
        if (is_write) MPI_File_write_at_all(file, at, part, piece, MPI_BYTE, &status);
        if (!is_write) MPI_File_read_at_all(file, at, part, piece, MPI_BYTE, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        CHECK_EQUAL(count, piece);
      }
      return;
    default:
      set_view(file, mine);
      if (way == 3 && is_write) MPI_File_write_all(file, data, length, MPI_BYTE, &status);
      if (way == 3 && !is_write) MPI_File_read_all(file, data, length, MPI_BYTE, &status);
      if (way == 4 && is_write) MPI_File_write_at_all(file, 0, data, length, MPI_BYTE, &status);
      if (way == 4 && !is_write) MPI_File_read(file, data, length, MPI_BYTE, &status);
      if (way == 5) {
        if (is_write) MPI_File_iwrite_all(file, data, length, MPI_BYTE, &requests[0]);
        if (!is_write) MPI_File_iread_all(file, data, length, MPI_BYTE, &requests[0]);
        MPI_Wait(&requests[0], &status);
      }
      MPI_Get_count(&status, MPI_BYTE, &count);
      CHECK_EQUAL(count, length);
      clear_view(file);
  }
}

/// Each rank appends a block in the order of ranks, or one after the other in any order.
static void use_shared_pointer(MPI_File file, int is_ordered, uint64_t key, int round) {
  unsigned char block[piece], found[piece];
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  for (int i = 0; i < piece; i++)
    block[i] = (unsigned char)(rank * 7 + i + (int)(key % 91));
  memcpy(block, &rank, sizeof rank);
  if (is_ordered) {
    MPI_File_write_ordered(file, block, piece, MPI_BYTE, MPI_STATUS_IGNORE);
  } else {
    MPI_File_write_shared(file, block, piece, MPI_BYTE, MPI_STATUS_IGNORE);
  }
  MPI_File_sync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_sync(file);
  // Every block is there once.
  unsigned char* seen = calloc((size_t)size, 1);
  for (int k = 0; k < size; k++) {
    int owner;
    MPI_File_read_at(file, (MPI_Offset)k * piece, found, piece, MPI_BYTE, MPI_STATUS_IGNORE);
    memcpy(&owner, found, sizeof owner);
    CHECK(owner >= 0 && owner < size && !seen[owner]);
    if (is_ordered) CHECK_EQUAL(owner, k);
    seen[owner] = 1;
    for (int i = (int)sizeof owner; i < piece; i++) {
      const unsigned char expected = (unsigned char)(owner * 7 + i + (int)(key % 91));
      if (found[i] != expected)
        fail("shared pointer", round, (MPI_Offset)k * piece + i, found[i], expected);
    }
    memcpy(model + (size_t)k * piece, found, piece);
  }
  free(seen);
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  if (argc < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  const int rounds = argc > 2 ? atoi(argv[2]) : 6;
  shared_random = random_seed(1);
  pieces = size * pieces_each;
  bytes = (MPI_Offset)pieces * piece;
  model = calloc((size_t)bytes, 1);
  int* order = malloc((size_t)pieces * sizeof(int));
  unsigned char data[pieces_each * piece];
  int mine[pieces_each];
  MPI_File file;
  CHECK_EQUAL(MPI_File_open(MPI_COMM_WORLD, argv[1],
                            MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                            MPI_INFO_NULL, &file),
              MPI_SUCCESS);
  MPI_File_set_size(file, bytes);
  MPI_File_set_atomicity(file, random_below(&shared_random, 2));
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < pieces; i++) {
      const int j = random_below(&shared_random, i + 1);
      order[i] = order[j];
      order[j] = i;
    }
    const uint64_t key = random_next(&shared_random);
    const int write_way = random_below(&shared_random, 6),
              read_way = random_below(&shared_random, 6);
    const int shift = random_below(&shared_random, size);
    pieces_of(order, rank, mine);
    for (int k = 0; k < pieces_each; k++)
      fill(data + k * piece, mine[k], key);
    transfer(file, write_way, 1, mine, data);
    for (int k = 0; k < pieces; k++)
      fill(model + (size_t)k * piece, k, key);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    pieces_of(order, (rank + shift) % size, mine);
    memset(data, 0x55, sizeof data);
    transfer(file, read_way, 0, mine, data);
    for (int k = 0; k < pieces_each; k++)
      check_bytes(data + k * piece, (MPI_Offset)mine[k] * piece, piece, "pieces", round);
    MPI_Barrier(MPI_COMM_WORLD);
    if (random_below(&shared_random, 3) == 0)
      use_shared_pointer(file, random_below(&shared_random, 2), key, round);
  }
  MPI_File_close(&file);
  if (rank == 0) printf("oracle files: %d rounds are right\n", rounds);
  free(order);
  free(model);
  MPI_Finalize();
  return 0;
}
