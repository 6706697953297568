/* Prints a line, and waits for a file before it ends; or crashes (crash). */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, is_there = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (strcmp(argv[1], "crash") == 0) {
    if (rank == 1) *(volatile int*)(long)is_there = 1;
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    printf("a line\n");
    for (int i = 0; i < 1000 && !is_there; i++) {
      usleep(20000);
      is_there = access(argv[1], F_OK) == 0;
    }
  }
  MPI_Finalize();
  return is_there ? 0 : 1;
}
