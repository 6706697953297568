// A profiling tool: counts the sends of a rank and their bytes, and adds them up over all ranks.
#include <mpi.h>
#include <stdio.h>

static long count, bytes;

int MPI_Send(const void* buffer, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int size = 0;
  PMPI_Type_size(type, &size);
  count += 1;
  bytes += (long)n * size;
  return PMPI_Send(buffer, n, type, to, tag, comm);
}

int MPI_Finalize(void) {
  long own[2] = {count, bytes}, sums[2], most[2];
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Reduce(own, sums, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  PMPI_Reduce(own, most, 2, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("tool: %ld sends, %ld bytes, at most %ld sends of a rank\n", sums[0], sums[1], most[0]);
  return PMPI_Finalize();
}
