/* Ranks of one process use a library without data. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int library_apply(int which, int value);

int main(int argc, char** argv) {
  int rank, least, most, process = getpid();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&process, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&process, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (library_apply(0, rank) == 2 * rank && library_apply(1, rank) == 3 * rank)
    printf("library of rank %d is right, in process of %s\n", rank,
           least == most ? "all" : "its own");
  MPI_Finalize();
  return 0;
}
