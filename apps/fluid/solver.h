// The flow solver's kernels, and the interface of the ways to run rows in parallel.
#ifndef SOLVER_H
#define SOLVER_H

// A square cavity of n x n points; the lid at the top moves to the right with speed 1. The flow is
// given by its stream function and its vorticity. Row i is at height i / (n - 1).
struct solver;

// Computes row i of a loop.
typedef void (*row_kernel)(struct solver* s, int i);

struct solver {
  int n;
  int repeat;         // times that a row is computed
  row_kernel kernel;  // of the current loop
  double reynolds, dt, relaxation;
  double *stream, *vorticity, *next_vorticity;
  double* energy;   // of each row
  int first, last;  // rows of this process: all rows, except with ranks
};

// ---- functions of a backend: loops.c, openmp.c, mpi.c, alone.c
// -------------------------------------

// Called first and last. Sets the rows of this process.
void backend_begin(struct solver* s, int* argc, char*** argv);
void backend_end(void);

// Runs `kernel` on every row, in any order; `changed` is the array that it writes, rows of n
// points, or NULL if no other row reads it.
void run_rows(struct solver* s, row_kernel kernel, double* changed);

// recurrence(x, count), by one processor while all other threads wait.
double run_serial(double x, long count);

// The sum of `values`, one for each row, in order; and an array's rows, gathered on rank 0.
double sum_of_rows(struct solver* s, double* values);
void collect(struct solver* s, double* array);

// Whether this process prints the output.
int is_output_process(void);

// ---- serial work
// --------------------------------------------------------------------

double recurrence(double x, long count);

#endif
