// A rectangular part of cg2d's grid: its fields, the problem, and the kernels, without MPI.
//
// bench/virtual/cg2d_loop.c steps the same blocks without ranks.
#ifndef SORREL_CG2D_BLOCK_H
#define SORREL_CG2D_BLOCK_H

#include <math.h>
#include <stddef.h>

// A field is an array of (rows + 2) x (columns + 2) doubles, row by row, its outermost layer the
// ghosts; the interior starts at row 1, column 1.
struct block {
  int rows, columns;            // interior points of this block
  int first_row, first_column;  // position of row 0, column 0 in the whole grid
  size_t stride;                // from one row of a field to the next
};

static inline size_t at(const struct block* b, int row, int column) {
  return (size_t)row * b->stride + (size_t)column;
}

static inline size_t field_size(const struct block* b) {
  return ((size_t)b->rows + 2) * b->stride;
}

// Cuts n points into `parts` stretches whose lengths differ by one at most.
static inline int start_of(int n, int parts, int part) {
  return (int)((long)n * part / parts);
}

static inline struct block make_block(int grid, const int dims[2], const int place[2]) {
  struct block b;
  b.first_row = start_of(grid, dims[0], place[0]);
  b.first_column = start_of(grid, dims[1], place[1]);
  b.rows = start_of(grid, dims[0], place[0] + 1) - b.first_row;
  b.columns = start_of(grid, dims[1], place[1] + 1) - b.first_column;
  b.stride = (size_t)b.columns + 2;
  return b;
}

// ---- the problem

// The answer at a point of the block, ghosts included.
static inline double known_solution(const struct block* b, int grid, int row, int column) {
  const double y = (b->first_row + row) / (grid + 1.0),
               x = (b->first_column + column) / (grid + 1.0);
  return 16 * x * (1 - x) * y * (1 - y) * exp(x - 2 * y);
}

// The right-hand side, times the squared mesh width, that makes known_solution the answer.
static inline double right_hand_side(const struct block* b, int grid, int row, int column) {
  return 4 * known_solution(b, grid, row, column) - known_solution(b, grid, row - 1, column) -
         known_solution(b, grid, row + 1, column) - known_solution(b, grid, row, column - 1) -
         known_solution(b, grid, row, column + 1);
}

// r = p = f; returns r . r.
static inline double start_from_zero(const struct block* b, int grid, double* r, double* p) {
  double rho = 0;
  for (int i = 1; i <= b->rows; i++)
    for (int j = 1; j <= b->columns; j++) {
      r[at(b, i, j)] = p[at(b, i, j)] = right_hand_side(b, grid, i, j);
      rho += r[at(b, i, j)] * r[at(b, i, j)];
    }
  return rho;
}

struct squares {
  double residual, right_hand_side;
};

// |f - q|^2 and |f|^2, for q = A x.
static inline struct squares squares_of(const struct block* b, int grid, const double* q) {
  struct squares sums = {0, 0};
  for (int i = 1; i <= b->rows; i++)
    for (int j = 1; j <= b->columns; j++) {
      const double f = right_hand_side(b, grid, i, j), left_over = f - q[at(b, i, j)];
      sums.residual += left_over * left_over;
      sums.right_hand_side += f * f;
    }
  return sums;
}

// ---- kernels: a row at a time, so that the compiler sees plain vectors

static inline double multiply_row(int n,
                                  const double* restrict above,
                                  const double* restrict here,
                                  const double* restrict below,
                                  double* restrict out) {
  double dot = 0;
#pragma omp simd reduction(+ : dot)
  for (int j = 0; j < n; j++) {
    const double value = 4 * here[j] - here[j - 1] - here[j + 1] - above[j] - below[j];
    out[j] = value;
    dot += value * here[j];
  }
  return dot;
}

static inline double update_residual_row(int n,
                                         double alpha,
                                         const double* restrict q,
                                         double* restrict r) {
  double dot = 0;
#pragma omp simd reduction(+ : dot)
  for (int j = 0; j < n; j++) {
    r[j] -= alpha * q[j];
    dot += r[j] * r[j];
  }
  return dot;
}

// Both use the old p, so one pass does for the two of them.
static inline void update_solution_row(int n,
                                       double alpha,
                                       double beta,
                                       const double* restrict r,
                                       double* restrict p,
                                       double* restrict x) {
#pragma omp simd
  for (int j = 0; j < n; j++) {
    x[j] += alpha * p[j];
    p[j] = r[j] + beta * p[j];
  }
}

// q = A p; returns p . q. The ghosts of p must be there.
static inline double multiply_block(const struct block* b, const double* p, double* q) {
  double dot = 0;
  for (int i = 1; i <= b->rows; i++)
    dot += multiply_row(b->columns, &p[at(b, i - 1, 1)], &p[at(b, i, 1)], &p[at(b, i + 1, 1)],
                        &q[at(b, i, 1)]);
  return dot;
}

// r -= alpha q; returns r . r.
static inline double update_residual_block(const struct block* b,
                                           double alpha,
                                           const double* q,
                                           double* r) {
  double dot = 0;
  for (int i = 1; i <= b->rows; i++)
    dot += update_residual_row(b->columns, alpha, &q[at(b, i, 1)], &r[at(b, i, 1)]);
  return dot;
}

// x += alpha p; p = r + beta p.
static inline void update_solution_block(
    const struct block* b, double alpha, double beta, const double* r, double* p, double* x) {
  for (int i = 1; i <= b->rows; i++)
    update_solution_row(b->columns, alpha, beta, &r[at(b, i, 1)], &p[at(b, i, 1)], &x[at(b, i, 1)]);
}

#endif
