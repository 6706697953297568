// Every rank writes behind blocks of the heap, at random: `overruns SEED`. The C library detects it
// in a later call, and ends the program while it holds its own locks.
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { block_count = 64, block_bytes_max = 5000 };

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned seed = (unsigned)atoi(argv[1]) * 7919u + (unsigned)rank * 104729u;
  char* blocks[block_count];
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < block_count; ++i)
      blocks[i] = malloc(1 + (size_t)rand_r(&seed) % block_bytes_max);
    char* volatile block = blocks[rand_r(&seed) % block_count];
    memset(block, rand_r(&seed), block_bytes_max + (size_t)rand_r(&seed) % 3000);
    int own = rank, other;
    MPI_Sendrecv(&own, 1, MPI_INT, rank ^ 1, 0, &other, 1, MPI_INT, rank ^ 1, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int i = 0; i < block_count; ++i)
      free(blocks[i]);
  }
  MPI_Finalize();
  return 0;
}
