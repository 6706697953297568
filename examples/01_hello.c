// Every rank prints its number. A rank is a user-level thread, not a process of the system: all
// ranks print the same process id, and their number is not bound to that of the cores.
//
//   mpicc 01_hello.c -o hello && sorrel run -n 8 ./hello

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  printf("hello from rank %d of %d, process %d\n", rank, ranks, (int)getpid());
  MPI_Finalize();
  return 0;
}
