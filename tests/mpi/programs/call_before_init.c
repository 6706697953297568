// Calls a function that is not allowed before MPI_Init.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("size %d\n", size);
  MPI_Init(&argc, &argv);
  MPI_Finalize();
  return 0;
}
