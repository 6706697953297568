/* The thread that a library's constructor starts is the rank's, and uses the rank's instance. */
#include <mpi.h>
#include <stdio.h>

int server_add(int value);

int main(int argc, char** argv) {
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 20; ++i) {
    sum = server_add(rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  printf("library of rank %d is %s\n", rank, sum == 20 * (rank + 1) ? "its own" : "shared");
  MPI_Finalize();
  return 0;
}
