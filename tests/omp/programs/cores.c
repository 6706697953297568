// The threads of a rank with cores of its own may use all of them, whatever other ranks may use.
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank = 0, few = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#pragma omp parallel num_threads(4) reduction(+ : few)
  {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    few += CPU_COUNT(&allowed) < omp_get_num_procs();
#pragma omp barrier
  }
  printf("rank %d: %d threads may not use all cores\n", rank, few);
  MPI_Finalize();
  return 0;
}
