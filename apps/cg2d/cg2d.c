// cg2d - conjugate gradients on the Poisson equation, in plain MPI.
//
// Solves  -u_xx - u_yy = f  on the unit square, u = 0 on its border, with N x N interior points and
// the five-point stencil; the matrix is never stored. The grid is cut into one block per rank, each
// with one layer of ghost points. A step is: fetch ghosts from four neighbours, multiply, reduce,
// update, reduce, update. f is made from a known u, so the program can tell that its answer is
// right, and exits 1 when it is not. The number of ranks changes the order of the sums, no more.
//
//   mpicc -O3 -march=native -fopenmp-simd cg2d.c -lm -o cg2d
//   cg2d [--grid N] [--steps MAX] [--tolerance T] [--report EVERY]

#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"

struct options {
  int grid;          // interior points per side
  int steps;         // at most so many steps
  double tolerance;  // stop when |residual| / |f| is below this; 0: make all the steps
  int report;        // print a line every so many steps; 0: never
};

// One rank's block, and its place among the ranks.
struct part {
  struct block block;
  MPI_Comm comm;
  int rank, ranks;
  int up, down, left, right;     // neighbours' ranks, MPI_PROC_NULL at the border
  double *left_out, *right_out;  // the block's own outer columns, packed
  double *left_in, *right_in;    // the neighbours' columns, to be unpacked into ghosts
};

struct result {
  int steps;
  double residual;  // |residual| / |f|, from the recurrence
  double seconds;   // of all steps, on this rank
};

// Every rank calls this together.
static void stop(int status, const char* message) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "cg2d: %s\n", message);
  MPI_Finalize();
  exit(status);
}

static const char help[] =
    "Conjugate gradients on the Poisson equation, N x N points, a block for each rank; exits 1 if\n"
    "the answer is wrong.\n\n"
    "  --grid N       interior points per side, 1 to 40000 (1000)\n"
    "  --steps MAX    at most so many steps, at least 1 (300)\n"
    "  --tolerance T  stop when |residual| / |f| is below this; 0: make all the steps (0)\n"
    "  --report K     print a line every K steps; 0: never (0)\n\n"
    "Examples:\n"
    "  sorrel run -n 64 cg2d --grid 2000\n"
    "  sorrel run -n 16 cg2d --tolerance 1e-10 --steps 5000 --report 100\n";

// Every rank calls this together.
static void print_help(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fputs(help, stdout);
  MPI_Finalize();
  exit(0);
}

static double* new_array(size_t count) {
  double* array = calloc(count, sizeof *array);
  if (array == NULL) {
    fprintf(stderr, "cg2d: out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return array;
}

static double* new_field(const struct block* b) {
  return new_array(field_size(b));
}

// ---- blocks
// ------------------------------------------------------------------------------------

static struct part make_part(int grid) {
  struct part part;
  MPI_Comm_size(MPI_COMM_WORLD, &part.ranks);
  int dims[2] = {0, 0}, periods[2] = {0, 0}, place[2];
  MPI_Dims_create(part.ranks, 2, dims);
  if (dims[0] > grid || dims[1] > grid) stop(2, "more ranks than rows or columns");
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 1, &part.comm);
  MPI_Comm_rank(part.comm, &part.rank);
  MPI_Cart_coords(part.comm, part.rank, 2, place);
  MPI_Cart_shift(part.comm, 0, 1, &part.up, &part.down);
  MPI_Cart_shift(part.comm, 1, 1, &part.left, &part.right);
  part.block = make_block(grid, dims, place);
  const int rows = part.block.rows;
  part.left_out = new_array(4 * (size_t)rows);
  part.right_out = part.left_out + rows;
  part.left_in = part.right_out + rows;
  part.right_in = part.left_in + rows;
  return part;
}

// ---- communication
// -------------------------------------------------------------------------------

// Rows lie in one piece and are sent from where they are. Columns are packed by hand, which is
// quicker than an MPI_Type_vector: the compiler knows the stride's loop, a datatype engine does
// not.
static void exchange_ghosts(const struct part* part, double* field) {
  const struct block* b = &part->block;

  enum { upward, downward, leftward, rightward };

  MPI_Request requests[8];
  MPI_Irecv(&field[at(b, 0, 1)], b->columns, MPI_DOUBLE, part->up, downward, part->comm,
            &requests[0]);
  MPI_Irecv(&field[at(b, b->rows + 1, 1)], b->columns, MPI_DOUBLE, part->down, upward, part->comm,
            &requests[1]);
  MPI_Irecv(part->left_in, b->rows, MPI_DOUBLE, part->left, rightward, part->comm, &requests[2]);
  MPI_Irecv(part->right_in, b->rows, MPI_DOUBLE, part->right, leftward, part->comm, &requests[3]);
  MPI_Isend(&field[at(b, 1, 1)], b->columns, MPI_DOUBLE, part->up, upward, part->comm,
            &requests[4]);
  MPI_Isend(&field[at(b, b->rows, 1)], b->columns, MPI_DOUBLE, part->down, downward, part->comm,
            &requests[5]);
  for (int i = 0; i < b->rows; i++) {
    part->left_out[i] = field[at(b, i + 1, 1)];
    part->right_out[i] = field[at(b, i + 1, b->columns)];
  }
  MPI_Isend(part->left_out, b->rows, MPI_DOUBLE, part->left, leftward, part->comm, &requests[6]);
  MPI_Isend(part->right_out, b->rows, MPI_DOUBLE, part->right, rightward, part->comm, &requests[7]);
  MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
  // At the border nothing arrives, and the buffers keep the zeros they were made with.
  for (int i = 0; i < b->rows; i++) {
    field[at(b, i + 1, 0)] = part->left_in[i];
    field[at(b, i + 1, b->columns + 1)] = part->right_in[i];
  }
}

static double over_all_ranks(const struct part* part, MPI_Op operation, double mine) {
  double all;
  MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, operation, part->comm);
  return all;
}

// ---- the method
// ----------------------------------------------------------------------------------------

// q = A p; returns p . q. Fetches p's ghosts first.
static double multiply(const struct part* part, double* p, double* q) {
  exchange_ghosts(part, p);
  return over_all_ranks(part, MPI_SUM, multiply_block(&part->block, p, q));
}

// Starts from x = 0, so that r = p = f. The last loop is the method of Hestenes and Stiefel.
static struct result solve(const struct part* part, const struct options* o, double* x, double* q) {
  const struct block* b = &part->block;
  struct result result = {0, 1, 0};
  double *r = new_field(b), *p = new_field(b);
  double rho = over_all_ranks(part, MPI_SUM, start_from_zero(b, o->grid, r, p));
  const double rho_first = rho;

  const double begin = MPI_Wtime();
  while (result.steps < o->steps && result.residual > fmax(o->tolerance, DBL_EPSILON)) {
    const double alpha = rho / multiply(part, p, q);
    const double rho_next = over_all_ranks(part, MPI_SUM, update_residual_block(b, alpha, q, r));
    update_solution_block(b, alpha, rho_next / rho, r, p, x);
    rho = rho_next;
    result.residual = sqrt(rho / rho_first);
    result.steps++;
    if (part->rank == 0 && o->report > 0 && result.steps % o->report == 0) {
      printf("step %6d  residual %.3e\n", result.steps, result.residual);
      fflush(stdout);
    }
  }
  result.seconds = MPI_Wtime() - begin;
  free(r), free(p);
  return result;
}

// ---- checks
// ----------------------------------------------------------------------------------------

// Sets x to the known solution, fetches ghosts and checks that each has its owner's value.
static int ghosts_are_right(const struct part* part, int grid, double* x) {
  const struct block* b = &part->block;
  double wrong = 0;
  for (int i = 1; i <= b->rows; i++)
    for (int j = 1; j <= b->columns; j++)
      x[at(b, i, j)] = known_solution(b, grid, i, j);
  exchange_ghosts(part, x);
  for (int i = 1; i <= b->rows; i++) {
    wrong += x[at(b, i, 0)] != known_solution(b, grid, i, 0);
    wrong += x[at(b, i, b->columns + 1)] != known_solution(b, grid, i, b->columns + 1);
  }
  for (int j = 1; j <= b->columns; j++) {
    wrong += x[at(b, 0, j)] != known_solution(b, grid, 0, j);
    wrong += x[at(b, b->rows + 1, j)] != known_solution(b, grid, b->rows + 1, j);
  }
  memset(x, 0, sizeof *x * field_size(b));
  return over_all_ranks(part, MPI_SUM, wrong) == 0;
}

// Compares the answer with the known one; returns what is wrong, or NULL.
static const char* judge(const struct part* part,
                         const struct options* o,
                         const struct result* result,
                         double* x,
                         double* q) {
  const struct block* b = &part->block;
  multiply(part, x, q);
  const struct squares sums = squares_of(b, o->grid, q);
  const double residual = sqrt(over_all_ranks(part, MPI_SUM, sums.residual) /
                               over_all_ranks(part, MPI_SUM, sums.right_hand_side));
  double error = 0;
  for (int i = 1; i <= b->rows; i++)
    for (int j = 1; j <= b->columns; j++)
      error = fmax(error, fabs(x[at(b, i, j)] - known_solution(b, o->grid, i, j)));
  error = over_all_ranks(part, MPI_MAX, error);
  // f is of the order of 1 / N^2, so rounding x moves the relative residual by epsilon times N^2.
  const double rounding = 10 * DBL_EPSILON * o->grid * o->grid;
  if (!(fabs(residual - result->residual) <= 1e-6 * residual + rounding))
    return "the solution does not have the residual that was computed";
  if (o->tolerance > 0 && !(result->residual <= o->tolerance))
    return "not converged within the steps allowed";
  if (o->tolerance > 0 && !(error <= 100 * o->tolerance + rounding))
    return "the solution is not the known one";
  return NULL;
}

// ---- the program
// -----------------------------------------------------------------------------------

static struct options read_options(int argc, char** argv) {
  struct options o = {.grid = 1000, .steps = 300, .tolerance = 0, .report = 0};
  if (argc == 2 && !strcmp(argv[1], "--help")) print_help();
  int wrong = 0;
  for (int i = 1; i < argc && !wrong; i += 2) {
    char* end = argv[i];
    const double value = i + 1 < argc ? strtod(argv[i + 1], &end) : 0;
    wrong = *end != '\0' || !(value >= 0 && value <= 1e8);
    if (wrong) break;
    if (!strcmp(argv[i], "--grid"))
      o.grid = (int)value;
    else if (!strcmp(argv[i], "--steps"))
      o.steps = (int)value;
    else if (!strcmp(argv[i], "--tolerance"))
      o.tolerance = value;
    else if (!strcmp(argv[i], "--report"))
      o.report = (int)value;
    else
      wrong = 1;
  }
  if (wrong || o.grid < 1 || o.grid > 40000 || o.steps < 1)
    stop(2, "usage: cg2d [--grid 1..40000] [--steps MAX] [--tolerance T] [--report EVERY]");
  return o;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct options o = read_options(argc, argv);
  struct part part = make_part(o.grid);
  double *x = new_field(&part.block), *q = new_field(&part.block);

  if (!ghosts_are_right(&part, o.grid, x)) stop(1, "the ghosts are not the neighbours' values");
  struct result result = solve(&part, &o, x, q);
  const char* trouble = judge(&part, &o, &result, x, q);
  if (part.rank == 0) {
    // The mean: ranks that share a core finish a step in another order each time, so one rank's
    // steps differ.
    printf("cg2d: ranks %d, steps %d, time per step mean %.1f us, residual %.6e\n", part.ranks,
           result.steps, result.seconds * 1e6 / result.steps, result.residual);
    fflush(stdout);
  }
  if (trouble != NULL) stop(1, trouble);

  free(x), free(q), free(part.left_out);
  MPI_Comm_free(&part.comm);
  MPI_Finalize();
  return 0;
}
