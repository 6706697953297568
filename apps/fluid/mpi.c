// Rows by MPI ranks: each has a block of rows, and receives its neighbours' edges after each loop.
// Every rank allocates all rows, and touches its own and two more.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "solver.h"

static int rank, ranks;

static int first_row(int n, int of_rank) {
  return (int)((long)n * of_rank / ranks);
}

// Called a second time when the number of rows is known.
void backend_begin(struct solver* s, int* argc, char*** argv) {
  if (argc != NULL) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return;
  }
  if (s->n < ranks) {
    if (rank == 0)
      fprintf(stderr, "fluid: %d points need no more than %d ranks, not %d\n", s->n, s->n, ranks);
    MPI_Finalize();
    exit(2);
  }
  s->first = first_row(s->n, rank);
  s->last = first_row(s->n, rank + 1);
}

void backend_end(void) {
  MPI_Finalize();
}

void run_rows(struct solver* s, row_kernel kernel, double* changed) {
  for (int i = s->first; i < s->last; i++)
    kernel(s, i);
  if (changed == NULL) return;
  const int n = s->n, below = rank > 0 ? rank - 1 : MPI_PROC_NULL,
            above = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  double* const low = changed + (long)s->first * n;
  double* const high = changed + (long)s->last * n;
  MPI_Sendrecv(low, n, MPI_DOUBLE, below, 0, high, n, MPI_DOUBLE, above, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(high - n, n, MPI_DOUBLE, above, 0, low - n, n, MPI_DOUBLE, below, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

double run_serial(double x, long count) {
  if (rank == 0) x = recurrence(x, count);
  MPI_Bcast(&x, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return x;
}

static void gather(struct solver* s, double* array, int width) {
  if (rank != 0) {
    MPI_Send(array + (long)s->first * width, (s->last - s->first) * width, MPI_DOUBLE, 0, 1,
             MPI_COMM_WORLD);
    return;
  }
  for (int other = 1; other < ranks; other++) {
    const int first = first_row(s->n, other), count = first_row(s->n, other + 1) - first;
    MPI_Recv(array + (long)first * width, count * width, MPI_DOUBLE, other, 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
}

double sum_of_rows(struct solver* s, double* values) {
  gather(s, values, 1);
  double sum = 0;
  for (int i = 0; rank == 0 && i < s->n; i++)
    sum += values[i];
  return sum;
}

void collect(struct solver* s, double* array) {
  gather(s, array, s->n);
}

int is_output_process(void) {
  return rank == 0;
}
