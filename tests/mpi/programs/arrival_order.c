// Prints the order in which rank 0 receives from the other ranks, which receive and sleep before
// they send: every scheduling decision changes it.
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { round_count = 3 };

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < round_count; ++round) {
    if (rank != 0) {
      if (rank % 3 == 0) usleep(100);
      double said = MPI_Wtime();
      MPI_Send(&said, 1, MPI_DOUBLE, 0, round, MPI_COMM_WORLD);
      continue;
    }
    for (int i = 1; i < size; ++i) {
      double said;
      MPI_Status status;
      MPI_Recv(&said, 1, MPI_DOUBLE, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &status);
      printf("%d ", status.MPI_SOURCE);
      if (argc > 1) printf("(%.7f) ", said);
    }
    printf("\n");
  }
  MPI_Finalize();
}
