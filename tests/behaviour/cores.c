// The number of cores that the ranks may use, printed by the last rank: `cores [SECONDS]`. A worker
// that has to wait for its core is released, and bound again after a second: with SECONDS, the rank
// waits so long for the binding.
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int core_count(void) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return CPU_COUNT(&set);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank == ranks - 1) {
    const double end = MPI_Wtime() + (argc > 1 ? atof(argv[1]) : 0);
    int count = core_count();
    for (; count != 1 && MPI_Wtime() < end; count = core_count())
      usleep(10000);
    fprintf(stderr, count == 1 ? "one\n" : "several\n");
  }
  MPI_Finalize();
  return 0;
}
