/* A library that uses MPI. */
#include <mpi.h>
#include <stdio.h>

void mpi_library_report(void) {
  int rank, ranks;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  printf("rank %d of %d by a library\n", rank, ranks);
  MPI_Finalize();
}
