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
  int change_count = 0;
  const int round_count = 50;
  for (int i = 0; i < round_count; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 1 || getuid() != 0) continue;
    if (seteuid(65534) == 0) {
      if (geteuid() != 65534 || seteuid(0) != 0) return 1;
      ++change_count;
    } else if (errno != EPERM) {
      return 1;
    }
  }
  // What the process may do does not change.
  if (change_count != 0 && change_count != round_count) return 1;
  printf("identity of rank %d is right\n", rank);
  MPI_Finalize();
  return 0;
}
