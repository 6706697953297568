/* setuid and its variants reach all threads of a process, by a signal of the C library's. */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (setuid(getuid()) != 0 || setgid(getgid()) != 0) return 1;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1 && getuid() == 0) {
    if (seteuid(65534) == 0) {
      if (geteuid() != 65534 || seteuid(0) != 0) return 1;
    } else if (errno != EPERM) {
      return 1;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("identity of rank %d is right\n", rank);
  MPI_Finalize();
  return 0;
}
