// Act B of `sorrel demo`: every rank passes a number to the next one; one of them has the wrong
// tag.
#include <mpi.h>

int main(int argc, char** argv) {
  int rank, ranks, number = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int tag = rank == 617 ? 11 : 10;
  if (rank + 1 < ranks) MPI_Send(&rank, 1, MPI_INT, rank + 1, tag, MPI_COMM_WORLD);
  if (rank > 0) MPI_Recv(&number, 1, MPI_INT, rank - 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
