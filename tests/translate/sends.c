// Each rank sends an int to each lower rank.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, got, sum = 0, total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int to = 0; to < rank; to++)
    MPI_Send(&rank, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
  for (int from = rank + 1; from < ranks; from++) {
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += got;
  }
  MPI_Reduce(&sum, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("sum %d\n", total);
  return MPI_Finalize();
}
