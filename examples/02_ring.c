// A token travels once around a ring of ranks, and every rank adds its number to it. While a rank
// waits in MPI_Recv, its core runs other ranks.
//
//   mpicc 02_ring.c -o ring && sorrel run -n 100 ./ring

#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, ranks, token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks;
  if (rank > 0) MPI_Recv(&token, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  token += rank;
  // Rank 0 may be its own neighbour, so it must not block in the send.
  MPI_Request sent;
  MPI_Isend(&token, 1, MPI_INT, next, 0, MPI_COMM_WORLD, &sent);
  int sum = 0;
  if (rank == 0) MPI_Recv(&sum, 1, MPI_INT, previous, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);

  int wrong = 0;
  if (rank == 0) {
    const int expected = ranks * (ranks - 1) / 2;
    wrong = sum != expected;
    printf("the token came back with %d, expected %d\n", sum, expected);
  }
  MPI_Finalize();
  return wrong;
}
