// The number of cores that the ranks may use, printed by the last rank.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  if (rank == ranks - 1) fprintf(stderr, CPU_COUNT(&set) == 1 ? "one\n" : "several\n");
  MPI_Finalize();
  return 0;
}
