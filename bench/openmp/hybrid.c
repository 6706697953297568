// One relaxation on a square grid, by any number of ranks with any number of OpenMP threads; the
// work does not depend on the cut. Prints seconds and a checksum. Arguments: cells of a side,
// sweeps.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  int rank, ranks, provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int side = argc > 1 ? atoi(argv[1]) : 1024, sweeps = argc > 2 ? atoi(argv[2]) : 200;
  const int first = (int)((long)side * rank / ranks),
            rows = (int)((long)side * (rank + 1) / ranks) - first;
  const int up = rank == 0 ? MPI_PROC_NULL : rank - 1,
            down = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
  const size_t width = (size_t)side + 2;
  double* now = calloc((size_t)(rows + 2) * width, sizeof *now);
  double* next = calloc((size_t)(rows + 2) * width, sizeof *next);
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= side; ++j)
      now[(size_t)i * width + j] = (double)(((first + i) * 31 + j * 17) % 101);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    MPI_Sendrecv(now + width, side + 2, MPI_DOUBLE, up, 0, now + (size_t)(rows + 1) * width,
                 side + 2, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(now + (size_t)rows * width, side + 2, MPI_DOUBLE, down, 1, now, side + 2,
                 MPI_DOUBLE, up, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#pragma omp parallel for
    for (int i = 1; i <= rows; ++i) {
      const double* at = now + (size_t)i * width;
      for (int j = 1; j <= side; ++j)
        next[(size_t)i * width + j] =
            0.25 * (at[j - 1] + at[j + 1] + at[j - (long)width] + at[j + (long)width]);
    }
    double* swap = now;
    now = next;
    next = swap;
  }
  double sum = 0, all = 0, seconds = MPI_Wtime() - began, worst;
  for (int i = 1; i <= rows; ++i)
    for (int j = 1; j <= side; ++j)
      sum += now[(size_t)i * width + j] * ((first + i) % 7);
  MPI_Reduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(&seconds, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.4f s, checksum %.9g\n", worst, all);
  MPI_Finalize();
  return 0;
}
