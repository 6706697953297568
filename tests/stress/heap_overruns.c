/* Ranks that use the heap and send from it; one of them writes beyond a block: heap_overruns SEED.
 * If the C library or the system detects it, the job must end with a message; undetected, the job
 * may continue. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { block_count = 48, step_count = 120 };

static uint64_t state;

static uint64_t next_random(void) {
  state += 0x9e3779b97f4a7c15U;
  uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

static size_t below(size_t bound) {
  return (size_t)(next_random() % bound);
}

static char* blocks[block_count];
static size_t bytes[block_count];

static void renew(size_t index) {
  static const size_t bounds[] = {64, 256, 1024, 8192, 200000};
  bytes[index] = 16 + below(bounds[below(5)]);
  if (below(3) == 0) {
    blocks[index] = realloc(blocks[index], bytes[index]);
  } else {
    free(blocks[index]);
    blocks[index] = malloc(bytes[index]);
  }
  memset(blocks[index], (int)below(256), bytes[index]);
}

/* A few bytes or some hundred, behind the block or before it. */
static void overrun(size_t index) {
  static const size_t lengths[] = {1, 8, 16, 24, 100, 500, 4000};
  const size_t length = lengths[below(7)];
  char* at = below(4) == 0 ? blocks[index] - length : blocks[index] + bytes[index];
  volatile char* byte = at;
  const char value = (char)(below(2) ? 0x41 : below(256));
  for (size_t i = 0; i < length; ++i)
    byte[i] = value;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  const int victim = (int)below((size_t)ranks);
  const size_t when = below(step_count);
  state += (uint64_t)rank << 32;
  for (size_t i = 0; i < block_count; ++i)
    renew(i);
  for (size_t step = 0; step < step_count; ++step) {
    if (rank == victim && step == when) overrun(below(block_count));
    for (int i = 0; i < 8; ++i)
      renew(below(block_count));
    char* sent = malloc(3000);
    char* received = malloc(3000);
    memset(sent, rank, 3000);
    MPI_Sendrecv(sent, 3000, MPI_CHAR, (rank + 1) % ranks, 1, received, 3000, MPI_CHAR,
                 (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(sent);
    free(received);
  }
  for (size_t i = 0; i < block_count; ++i)
    free(blocks[i]);
  MPI_Finalize();
}
