/* Even ranks run 20 parallel loops and 20 reductions. The workers of the others help. */
#include <mpi.h>
#include <stdio.h>

#include "sorrel.h"

enum { count = 2000 };

static double values[count];

static int fill(void* argument, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i) {
    double value = (double)*(int*)argument;
    for (int k = 0; k < 1000; ++k)
      value = value * 0.999 + (double)i;
    values[i] = value;
  }
  return 0;
}

static int add_part(void* argument, int64_t begin, int64_t end, void* partial) {
  (void)argument;
  for (int64_t i = begin; i < end; ++i)
    *(double*)partial += values[i];
  return 0;
}

static void add(void* argument, void* into, const void* from) {
  (void)argument;
  *(double*)into += *(const double*)from;
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double total = 0;
  for (int round = 0; round < 20; ++round) {
    double sum = 0;
    if (rank % 2 == 0 && sorrel_parallel_for(0, count, fill, &rank, NULL) != 0)
      MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank % 2 == 0 &&
        sorrel_parallel_reduce(0, count, add_part, add, NULL, &sum, sizeof sum, NULL) != 0)
      MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Allreduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%s\n", total > 0 ? "done" : "wrong");
  MPI_Finalize();
  return 0;
}
