// Act A of `sorrel demo`: 100 sums over all ranks.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int step = 0; step < 100; step++) {
    int mine = rank + step, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += sum != ranks * (ranks - 1) / 2 + ranks * step;
  }
  if (rank == 0) printf("%d ranks, %d wrong sums\n", ranks, wrong);
  MPI_Finalize();
  return 0;
}
