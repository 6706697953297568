/* A master that starts eight workers of the same program, and adds what they send. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Comm parent;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (parent != MPI_COMM_NULL) {
    MPI_Reduce(&rank, NULL, 1, MPI_INT, MPI_SUM, 0, parent);
    MPI_Comm_disconnect(&parent);
  } else {
    MPI_Comm workers;
    int sum = 0;
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 8, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &workers,
                   MPI_ERRCODES_IGNORE);
    MPI_Reduce(NULL, &sum, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, workers);
    MPI_Comm_disconnect(&workers);
    if (rank == 0) printf("the workers sent %d\n", sum);
  }
  MPI_Finalize();
  return 0;
}
