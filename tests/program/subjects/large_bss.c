/* 1 GiB that no rank touches takes no memory. */
#include <mpi.h>
#include <stdio.h>

static char untouched[1L << 30];

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  untouched[4096L * rank] = (char)(rank + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (untouched[4096L * rank] != (char)(rank + 1) || untouched[4096L * (rank + 1)] != 0) return 1;
  if (rank == 0) printf("large .bss is sparse\n");
  MPI_Finalize();
  return 0;
}
