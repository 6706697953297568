// Between two fences every rank puts, gets and accumulates; afterwards all of it has happened.
// Ranks have windows of different sizes and displacement units.
#include "../check.h"

enum { rounds = 20 };

static void a_ring_of_puts(void) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  int mine = -1;
  MPI_Win win;
  MPI_Win_create(&mine, sizeof mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int round = 0; round < rounds; round++) {
    const int distance = 1 + round % size;
    const int value = 1000 * round + rank;
    MPI_Win_fence(round == 0 ? MPI_MODE_NOPRECEDE : 0, win);
    MPI_Put(&value, 1, MPI_INT, (rank + distance) % size, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win);
    const int source = (rank - distance % size + size) % size;
    CHECK_EQUAL(mine, 1000 * round + source);
    int got = -1;
    MPI_Get(&got, 1, MPI_INT, source, 0, 1, MPI_INT, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    CHECK_EQUAL(got, 1000 * round + (source - distance % size + size) % size);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_free(&win);
}

static void everyone_adds_to_everyone(void) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  long* sums;
  MPI_Win win;
  MPI_Win_allocate((MPI_Aint)(sizeof(long) * (size_t)(4 + rank)), sizeof(long), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &sums, &win);
  for (int i = 0; i < 4 + rank; i++)
    sums[i] = 0;
  MPI_Win_fence(0, win);
  const long values[2] = {rank + 1, 10 * (rank + 1)};
  for (int target = 0; target < size; target++)
    MPI_Accumulate(values, 2, MPI_LONG, target, 2 + target, 2, MPI_LONG, MPI_SUM, win);
  MPI_Win_fence(0, win);
  const long total = (long)size * (size + 1) / 2;
  CHECK_EQUAL(sums[2 + rank], total);
  CHECK_EQUAL(sums[3 + rank], 10 * total);
  CHECK_EQUAL(sums[0], 0);
  MPI_Win_free(&win);
}

static void long_data_arrives_whole(void) {
  enum { bytes = 300000 };

  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  if (size > 20) return;
  unsigned char *mine, *out = malloc(bytes), *in = malloc(bytes);
  MPI_Win win;
  MPI_Win_allocate(2 * bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  memset(mine, 0, 2 * bytes);
  pattern_fill(out, bytes, (uint64_t)rank);
  MPI_Win_fence(0, win);
  MPI_Put(out, bytes, MPI_BYTE, (rank + 1) % size, 17, bytes, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  CHECK_PATTERN(mine + 17, bytes, (uint64_t)((rank + size - 1) % size));
  CHECK_EQUAL(mine[16] + mine[17 + bytes], 0);
  MPI_Get(in, bytes, MPI_BYTE, (rank + 1) % size, 17, bytes, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  CHECK_PATTERN(in, bytes, (uint64_t)rank);
  MPI_Win_free(&win);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  a_ring_of_puts();
  everyone_adds_to_everyone();
  long_data_arrives_whole();
  MPI_Finalize();
  return 0;
}
