/* Each rank has two files open, which together are more than a process may have by default. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  FILE* one = fopen("/dev/null", "r");
  FILE* two = fopen("/dev/zero", "r");
  const int error = errno;
  MPI_Barrier(MPI_COMM_WORLD);
  if (one != NULL && two != NULL) printf("files of rank %d are open\n", rank);
  if (one == NULL || two == NULL) printf("rank %d: %s\n", rank, strerror(error));
  MPI_Finalize();
  return 0;
}
