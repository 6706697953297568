/* Two senders, and a receiver that expects their order if the argument is `wrong`; with `deadlock`
 * it waits for ever in the other order. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, value = 0, status = 0;
  MPI_Status first;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "ordered") == 0) {
    if (rank == 0) {
      MPI_Recv(&value, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Recv(&value, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  } else if (rank == 0) {
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &first);
    const int other = strcmp(how, "deadlock") == 0 ? 2 : MPI_ANY_SOURCE;
    MPI_Recv(&value, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "wrong") == 0 && first.MPI_SOURCE != 1) status = 5;
  }
  if (rank != 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return status;
}
