/* messages ROUNDS [crash|wait|compute]: each rank sends ROUNDS messages of 8 bytes, tag 5, and as
 * many of 100 KB, tag 6, to the next one. With wait and compute it goes on until it is killed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { long_bytes = 100000 };

static void exchange(int rank, int size, int round, char* out, char* in) {
  MPI_Request requests[2];
  const int next = (rank + 1) % size;
  long number = round;
  MPI_Isend(&number, 1, MPI_LONG, next, 5, MPI_COMM_WORLD, &requests[0]);
  long received = -1;
  MPI_Recv(&received, 1, MPI_LONG, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  if (received != number) MPI_Abort(MPI_COMM_WORLD, 9);
  MPI_Irecv(in, long_bytes, MPI_CHAR, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(out, long_bytes, MPI_CHAR, next, 6, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 1;
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char* out = calloc(1, long_bytes);
  char* in = calloc(1, long_bytes);
  for (int round = 0; round < rounds; ++round)
    exchange(rank, size, round, out, in);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("done\n");
  fflush(stdout);
  if (argc > 2 && strcmp(argv[2], "wait") == 0) {
    for (;;)
      MPI_Barrier(MPI_COMM_WORLD);
  }
  if (argc > 2 && strcmp(argv[2], "compute") == 0) {
    for (;;) {
      for (volatile int i = 0; i < 100000; ++i) {
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  if (argc > 2 && strcmp(argv[2], "crash") == 0 && rank == 0) abort();
  MPI_Finalize();
  free(out);
  free(in);
  return 0;
}
