// A profiling tool in C: counts the calls of a rank, those from Fortran among them.
#include <mpi.h>
#include <stdio.h>

static int sends;

int MPI_Send(const void* buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(buf, count, type, dest, tag, comm);
}

int MPI_Finalize(void) {
  int rank, total;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(&sends, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("tool in C: %d sends\n", total);
  fflush(stdout);
  return PMPI_Finalize();
}
