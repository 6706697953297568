// freed [ROUNDS]: communicators of random parts of the ranks, which are freed as soon as all
// members have left their only barrier or sum. With moves between processes the root of a process
// is soon without members; whatever reads a node after it has released its children reads freed
// memory.
#include "../check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const int rounds = argc > 1 ? atoi(argv[1]) : 8;
  const uint64_t seed = random_seed(1);
  uint64_t own = seed * 65537 + (uint64_t)rank;
  const int colours = size > 1 ? size / 2 : 1;
  for (int round = 0; round < rounds; round++) {
    // Where ranks may move.
    MPI_Barrier(MPI_COMM_WORLD);
    for (int k = 0; k < 20; k++) {
      MPI_Comm part;
      MPI_Comm_split(MPI_COMM_WORLD, (int)((uint64_t)(rank + k) + seed) % colours / 2, rank, &part);
      const int one = 1;
      int sum = size_of(part);
      if (k % 2 == 1) MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
      CHECK_EQUAL(sum, size_of(part));
      MPI_Barrier(part);
      MPI_Comm_free(&part);
      // Freed memory is used again.
      const size_t bytes = 500 + (size_t)random_below(&own, 4000);
      char* used = malloc(bytes);
      memset(used, -1, bytes);
      free(used);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("oracle freed: %d communicators are right\n", 20 * rounds);
  MPI_Finalize();
  return 0;
}
