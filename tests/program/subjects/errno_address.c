// The address of errno, which compilers keep across calls, is that of the rank's errno also when
// the rank's worker has changed its thread.
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { round_count = 2000 };

// Called through a variable: compilers know __errno_location() as a function without effect.
static int* (*volatile location)(void) = __errno_location;

int main(int argc, char** argv) {
  int rank, size;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* const address = location();
  for (int i = 0; i < round_count; ++i) {
    int got = -1;
    *address = 0;
    if (i % 2 == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
    } else {
      MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size,
                   0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (location() != address) {
      printf("rank %d: errno has another address after %d calls\n", rank, i);
      return 1;
    }
    if (strtol("99999999999999999999", NULL, 10) != LONG_MAX || *address != ERANGE) {
      printf("rank %d: an overflow was not noticed after %d calls\n", rank, i);
      return 1;
    }
  }
  printf("rank %d: errno is where it was\n", rank);
  MPI_Finalize();
  return 0;
}
