// Uses a library whose data each rank must have for itself.
#include <mpi.h>
#include <stdio.h>

int unfit(void);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d counts from %d\n", rank, unfit());
  MPI_Finalize();
  return 0;
}
