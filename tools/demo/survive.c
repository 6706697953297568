// Act C of `sorrel demo`: 100 steps of a sum over all ranks. Nothing here is about failures.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, ranks;
  long total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int step = 1; step <= 100; step++) {
    long mine = (long)rank * step, sum = 0;
    usleep(10000);
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    total += sum;
    if (rank == 0) printf("step %d, total %ld\n", step, total);
    if (rank == 0) fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
