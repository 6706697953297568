// cg2d_loop BLOCKS [GRID] [STEPS] - the blocks of apps/cg2d, stepped by one loop in one process,
// without ranks and messages: ghosts are copied from the neighbours' fields.
//
// The baseline for what ranks cost: the same kernels, the same blocks, the same three sweeps over
// all blocks in a step. Prints the mean time of a step:
//   result step VALUE us
// Exits 1 if the answer does not have the residual that was computed.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "block.h"

struct piece {
  struct block block;
  int up, down, left, right;  // indices of the neighbours, -1 at the border
  double *x, *q, *r, *p;
};

static double* new_field(const struct block* b) {
  double* field = calloc(field_size(b), sizeof *field);
  if (field == NULL) exit(3);
  return field;
}

static double now_us(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

// As MPI_Dims_create: the most even product of two, the greater first.
static void cut_in_two(int count, int dims[2]) {
  for (dims[1] = (int)sqrt((double)count); count % dims[1] != 0;)
    dims[1]--;
  dims[0] = count / dims[1];
}

static struct piece* make_pieces(int count, int grid) {
  struct piece* pieces = calloc((size_t)count, sizeof *pieces);
  int dims[2];
  cut_in_two(count, dims);
  if (pieces == NULL || dims[0] > grid) exit(3);
  for (int i = 0; i < count; i++) {
    const int place[2] = {i / dims[1], i % dims[1]};
    struct piece* piece = &pieces[i];
    piece->block = make_block(grid, dims, place);
    piece->up = place[0] > 0 ? i - dims[1] : -1;
    piece->down = place[0] + 1 < dims[0] ? i + dims[1] : -1;
    piece->left = place[1] > 0 ? i - 1 : -1;
    piece->right = place[1] + 1 < dims[1] ? i + 1 : -1;
    piece->x = new_field(&piece->block);
    piece->q = new_field(&piece->block);
    piece->r = new_field(&piece->block);
    piece->p = new_field(&piece->block);
  }
  return pieces;
}

static void copy_row(const struct piece* from, int from_row, struct piece* to, int to_row) {
  const double* source = &from->p[at(&from->block, from_row, 1)];
  double* target = &to->p[at(&to->block, to_row, 1)];
  for (int j = 0; j < to->block.columns; j++)
    target[j] = source[j];
}

static void copy_column(const struct piece* from,
                        int from_column,
                        struct piece* to,
                        int to_column) {
  for (int i = 1; i <= to->block.rows; i++)
    to->p[at(&to->block, i, to_column)] = from->p[at(&from->block, i, from_column)];
}

// Only ghosts are written, and only interior points are read, so the order of blocks is free.
static void copy_ghosts(struct piece* pieces, struct piece* to) {
  const struct block* b = &to->block;
  if (to->up >= 0) copy_row(&pieces[to->up], pieces[to->up].block.rows, to, 0);
  if (to->down >= 0) copy_row(&pieces[to->down], 1, to, b->rows + 1);
  if (to->left >= 0) copy_column(&pieces[to->left], pieces[to->left].block.columns, to, 0);
  if (to->right >= 0) copy_column(&pieces[to->right], 1, to, b->columns + 1);
}

static double multiply(struct piece* pieces, int count) {
  double dot = 0;
  for (int i = 0; i < count; i++) {
    copy_ghosts(pieces, &pieces[i]);
    dot += multiply_block(&pieces[i].block, pieces[i].p, pieces[i].q);
  }
  return dot;
}

static double update_residual(struct piece* pieces, int count, double alpha) {
  double dot = 0;
  for (int i = 0; i < count; i++)
    dot += update_residual_block(&pieces[i].block, alpha, pieces[i].q, pieces[i].r);
  return dot;
}

// The residual of x itself: q = A x, by way of p and its ghosts.
static double true_residual(struct piece* pieces, int count, int grid) {
  double residual = 0, right_hand_side = 0;
  for (int i = 0; i < count; i++)
    for (size_t j = 0; j < field_size(&pieces[i].block); j++)
      pieces[i].p[j] = pieces[i].x[j];
  multiply(pieces, count);
  for (int i = 0; i < count; i++) {
    const struct squares sums = squares_of(&pieces[i].block, grid, pieces[i].q);
    residual += sums.residual;
    right_hand_side += sums.right_hand_side;
  }
  return sqrt(residual / right_hand_side);
}

int main(int argc, char** argv) {
  const int count = argc > 1 ? atoi(argv[1]) : 0;
  const int grid = argc > 2 ? atoi(argv[2]) : 1000, steps = argc > 3 ? atoi(argv[3]) : 100;
  if (count < 1 || grid < 1 || grid > 40000 || steps < 1) {
    fputs("usage: cg2d_loop BLOCKS [GRID] [STEPS]\n", stderr);
    return 2;
  }
  struct piece* pieces = make_pieces(count, grid);

  double rho = 0;
  for (int i = 0; i < count; i++)
    rho += start_from_zero(&pieces[i].block, grid, pieces[i].r, pieces[i].p);
  const double rho_first = rho;
  const double begin = now_us();
  for (int step = 0; step < steps; step++) {
    const double alpha = rho / multiply(pieces, count);
    const double rho_next = update_residual(pieces, count, alpha), beta = rho_next / rho;
    for (int i = 0; i < count; i++)
      update_solution_block(&pieces[i].block, alpha, beta, pieces[i].r, pieces[i].p, pieces[i].x);
    rho = rho_next;
  }
  printf("result step %.6g us\n", (now_us() - begin) / steps);

  const double computed = sqrt(rho / rho_first), residual = true_residual(pieces, count, grid);
  const double rounding = 1e-14 * grid * grid;
  printf("cg2d_loop: blocks %d, steps %d, residual %.6e\n", count, steps, computed);
  if (fabs(residual - computed) <= 1e-6 * computed + rounding) return 0;
  fputs("cg2d_loop: the solution does not have the residual that was computed\n", stderr);
  return 1;
}
