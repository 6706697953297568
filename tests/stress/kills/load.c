/* A job that computes and sends as much as it can for so many milliseconds: load MILLISECONDS.
 * Built with -fopenmp, each rank also has threads. It ends with one line, "over". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { short_count = 16, long_count = 100000 };

static double work(double value) {
#ifdef _OPENMP
#pragma omp parallel for reduction(+ : value) num_threads(4)
#endif
  for (int i = 1; i < 20000; ++i)
    value += 1.0 / i;
  return value;
}

int main(int argc, char** argv) {
  const double limit_s = (argc > 1 ? atof(argv[1]) : 200) * 1e-3;
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int right = (rank + 1) % ranks;
  const int left = (rank + ranks - 1) % ranks;
  double* from = malloc(long_count * sizeof *from);
  double* to = malloc(long_count * sizeof *to);
  memset(from, 0, long_count * sizeof *from);
  const double began = MPI_Wtime();
  double sum = 0;
  for (int round = 0, go_on = 1; go_on; ++round) {
    sum = work(sum);
    const int count = round % 4 == 0 ? long_count : short_count;
    MPI_Sendrecv(from, count, MPI_DOUBLE, right, 1, to, count, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    go_on = MPI_Wtime() - began < limit_s;
    MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  free(from);
  free(to);
  if (rank == 0) puts("over");
  MPI_Finalize();
  return sum < 0;
}
