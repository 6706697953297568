// fluid - flow in a cavity whose lid moves, with a tunable share of serial work and a tunable
// grain.
//
// Stream function and vorticity on n x n points, explicit in time, the stream function by red-black
// over-relaxation. Each time step has six parallel loops over rows: vorticity, two red and two
// black sweeps, energy. After each loop comes a serial recurrence. Each way to run rows is a file
// of its own: sorrel_parallel_for (loops.c), OpenMP (openmp.c), MPI ranks (mpi.c), one thread
// (alone.c). The answer is the same to the last bit.
//
//   fluid_loops [--points N] [--steps S] [--repeat TIMES] [--serial RECURRENCES_PER_POINT]
//   [--reynolds RE] [--check]
//
// --check runs until the flow is steady and holds it against the centre-line velocities of U. Ghia,
// K. N. Ghia, C. T. Shin, J. Comp. Phys. 48 (1982), for Reynolds number 100; exits 1 if they
// differ.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "solver.h"

static double now_s(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

// ---- kernels: a row each
// ---------------------------------------------------------------------------

static void vorticity_row(struct solver* s, int i) {
  const int n = s->n;
  const double h = 1.0 / (n - 1), diffusion = s->dt / (s->reynolds * h * h),
               advection = s->dt / (4 * h * h);
  const double *psi = s->stream + (long)i * n, *w = s->vorticity + (long)i * n;
  double* next = s->next_vorticity + (long)i * n;
  if (i == 0 || i == n - 1) {
    // At a wall the fluid has the wall's speed (Thom's formula).
    const double* inner = i == 0 ? psi + n : psi - n;
    const double lid = i == 0 ? 0 : 1;
    for (int j = 0; j < n; j++)
      next[j] = -2 * (inner[j] / (h * h) + lid / h);
    return;
  }
  next[0] = -2 * psi[1] / (h * h);
  next[n - 1] = -2 * psi[n - 2] / (h * h);
  for (int j = 1; j < n - 1; j++) {
    const double u = psi[j + n] - psi[j - n], v = psi[j - 1] - psi[j + 1];
    const double transport = u * (w[j + 1] - w[j - 1]) + v * (w[j + n] - w[j - n]);
    next[j] = w[j] + diffusion * (w[j + 1] + w[j - 1] + w[j + n] + w[j - n] - 4 * w[j]) -
              advection * transport;
  }
}

static void relax_row(struct solver* s, int i, int color) {
  const int n = s->n;
  if (i == 0 || i == n - 1) return;
  const double h = 1.0 / (n - 1), factor = s->relaxation / 4;
  double* psi = s->stream + (long)i * n;
  const double* w = s->vorticity + (long)i * n;
  for (int j = 1 + (i + 1 + color) % 2; j < n - 1; j += 2)
    psi[j] +=
        factor * (psi[j + 1] + psi[j - 1] + psi[j + n] + psi[j - n] - 4 * psi[j] + h * h * w[j]);
}

// Computes one row several times: more work in a loop, without more memory.
static void repeated_row(struct solver* s, int i) {
  for (int k = 0; k < s->repeat; k++)
    s->kernel(s, i);
}

static void red_row(struct solver* s, int i) {
  relax_row(s, i, 0);
}

static void black_row(struct solver* s, int i) {
  relax_row(s, i, 1);
}

static void energy_row(struct solver* s, int i) {
  const int n = s->n;
  double sum = 0;
  if (i > 0 && i < n - 1) {
    const double* psi = s->stream + (long)i * n;
    for (int j = 1; j < n - 1; j++) {
      const double u = psi[j + n] - psi[j - n], v = psi[j - 1] - psi[j + 1];
      sum += u * u + v * v;
    }
  }
  s->energy[i] = sum;
}

// Writes memory that calloc has only reserved. If such memory is first read and later written, the
// system changes pages while several processors use them, and every page interrupts all of them.
static void touch_row(struct solver* s, int i) {
  const long first = (long)i * s->n;
  for (int j = 0; j < s->n; j++)
    s->stream[first + j] = s->vorticity[first + j] = s->next_vorticity[first + j] = 0;
  s->energy[i] = 0;
}

double recurrence(double x, long count) {
  for (long i = 0; i < count; i++)
    x = x * 0.999999 + 1.0 / (1.0 + x * x);
  return x;
}

// ---- against Ghia, Ghia, Shin: Reynolds number 100
// -------------------------------------------------

struct point {
  double at, speed;
};

// u along the vertical line through the centre, and v along the horizontal one.
static const struct point ghia_u[] = {{0.0547, -0.03717}, {0.0625, -0.04192}, {0.0703, -0.04775},
                                      {0.1016, -0.06434}, {0.1719, -0.10150}, {0.2813, -0.15662},
                                      {0.4531, -0.21090}, {0.5000, -0.20581}, {0.6172, -0.13641},
                                      {0.7344, 0.00332},  {0.8516, 0.23151},  {0.9531, 0.68717},
                                      {0.9609, 0.73722},  {0.9688, 0.78871},  {0.9766, 0.84123}};
static const struct point ghia_v[] = {{0.0625, 0.09233},  {0.0703, 0.10091},  {0.0781, 0.10890},
                                      {0.0938, 0.12317},  {0.1563, 0.16077},  {0.2266, 0.17507},
                                      {0.2344, 0.17527},  {0.5000, 0.05454},  {0.8047, -0.24533},
                                      {0.8594, -0.22445}, {0.9063, -0.16914}, {0.9453, -0.10313},
                                      {0.9531, -0.08864}, {0.9609, -0.07391}, {0.9688, -0.05906}};

// Half-way between rows (or columns) the difference of the stream function is the speed.
static double speed_at(const struct solver* s, double at, int is_u) {
  const int n = s->n, middle = (n - 1) / 2;
  const double place = at * (n - 1) - 0.5;
  const int k = place < 0 ? 0 : (int)place;
  double speed[2];
  for (int side = 0; side < 2; side++) {
    const long row = k + side;
    speed[side] =
        is_u
            ? (s->stream[(row + 1) * n + middle] - s->stream[row * n + middle]) * (n - 1)
            : (s->stream[(long)middle * n + row] - s->stream[(long)middle * n + row + 1]) * (n - 1);
  }
  return speed[0] + (place - k) * (speed[1] - speed[0]);
}

static double largest_difference(const struct solver* s) {
  double largest = 0;
  for (size_t i = 0; i < sizeof ghia_u / sizeof *ghia_u; i++) {
    largest = fmax(largest, fabs(speed_at(s, ghia_u[i].at, 1) - ghia_u[i].speed));
    largest = fmax(largest, fabs(speed_at(s, ghia_v[i].at, 0) - ghia_v[i].speed));
  }
  return largest;
}

// ---- the program
// -----------------------------------------------------------------------------------

struct times {
  double loops, serial, x;
  long loop_count;
};

static void run_loop(
    struct solver* s, row_kernel kernel, double* changed, long recurrences, struct times* t) {
  const double began = now_s();
  s->kernel = kernel;
  run_rows(s, s->repeat > 1 ? repeated_row : kernel, changed);
  const double looped = now_s();
  if (recurrences > 0) t->x = run_serial(t->x, recurrences);
  t->loops += looped - began;
  t->serial += now_s() - looped;
  t->loop_count++;
}

static void run_step(struct solver* s, long recurrences, struct times* t) {
  run_loop(s, vorticity_row, s->next_vorticity, recurrences, t);
  double* swap = s->vorticity;
  s->vorticity = s->next_vorticity;
  s->next_vorticity = swap;
  for (int sweep = 0; sweep < 2; sweep++) {
    run_loop(s, red_row, s->stream, recurrences, t);
    run_loop(s, black_row, s->stream, recurrences, t);
  }
  run_loop(s, energy_row, NULL, recurrences, t);
}

static double number(int* argc, char*** argv, const char* name) {
  char* end = NULL;
  const double value = *argc > 1 ? strtod((*argv)[1], &end) : 0;
  if (end == NULL || *end != '\0' || !(value >= 0) || value > 1e9) {
    fprintf(stderr, "fluid: %s needs a number of at least 0\n", name);
    exit(2);
  }
  *argc -= 1;
  *argv += 1;
  return value;
}

static const char help[] =
    "Flow in a cavity whose lid moves: six parallel loops a time step, and serial work behind "
    "each.\n\n"
    "  --points N     on each side, 5 to 20000 (129); more of them make coarser loops\n"
    "  --steps S      time steps (200)\n"
    "  --repeat T     do the work of each row T times (1)\n"
    "  --serial R     serial work: recurrences for each point (0)\n"
    "  --reynolds RE  Reynolds number (100)\n"
    "  --check        until the flow is steady; exits 1 if it is not the known one\n\n"
    "Examples:\n"
    "  fluid_loops --check\n"
    "  sorrel run --omp fluid_openmp --points 400 --serial 0.2\n"
    "  sorrel run -n 8 fluid_mpi --points 400\n";

int main(int argc, char** argv) {
  struct solver s = {.n = 129, .repeat = 1, .reynolds = 100};
  int steps = 200, checks = 0;
  double serial = 0;
  backend_begin(&s, &argc, &argv);
  for (argc--, argv++; argc > 0; argc--, argv++) {
    const char* name = argv[0];
    if (strcmp(name, "--points") == 0)
      s.n = (int)number(&argc, &argv, name);
    else if (strcmp(name, "--steps") == 0)
      steps = (int)number(&argc, &argv, name);
    else if (strcmp(name, "--repeat") == 0)
      s.repeat = (int)number(&argc, &argv, name);
    else if (strcmp(name, "--serial") == 0)
      serial = number(&argc, &argv, name);
    else if (strcmp(name, "--reynolds") == 0)
      s.reynolds = number(&argc, &argv, name);
    else if (strcmp(name, "--check") == 0)
      checks = 1;
    else if (strcmp(name, "--help") == 0) {
      if (is_output_process()) fputs(help, stdout);
      backend_end();
      return 0;
    } else {
      fprintf(stderr,
              "fluid: unknown option %s; known are --points --steps --repeat --serial --reynolds "
              "--check\n",
              name);
      return 2;
    }
  }
  if (s.n < 5 || s.n > 20000 || s.reynolds <= 0) {
    fprintf(stderr, "fluid: --points must be from 5 to 20000, --reynolds more than 0\n");
    return 2;
  }
  const double pi = 3.14159265358979323846, h = 1.0 / (s.n - 1);
  s.relaxation = 2 / (1 + sin(pi * h));
  s.dt = fmin(0.2 * s.reynolds * h * h, 0.5 * h);
  if (checks) steps = (int)(30 / s.dt);
  backend_begin(&s, NULL, NULL);
  const size_t points = (size_t)s.n * (size_t)s.n;
  s.stream = calloc(points, sizeof(double));
  s.vorticity = calloc(points, sizeof(double));
  s.next_vorticity = calloc(points, sizeof(double));
  s.energy = calloc((size_t)s.n, sizeof(double));
  if (!s.stream || !s.vorticity || !s.next_vorticity || !s.energy) {
    fprintf(stderr, "fluid: no memory for %d x %d points\n", s.n, s.n);
    return 1;
  }
  run_rows(&s, touch_row, NULL);
  struct times t = {.x = 1};
  const double began = now_s();
  for (int step = 0; step < steps; step++)
    run_step(&s, (long)(serial * points), &t);
  const double elapsed = now_s() - began;
  // Speeds are differences over 2 h, a point stands for an area of h x h.
  const double energy = sum_of_rows(&s, s.energy) / 8;
  collect(&s, s.stream);
  int status = 0;
  if (is_output_process()) {
    printf(
        "fluid: points %d, steps %d, loops %ld, elapsed %.6f s, loops %.6f s, serial %.6f s, "
        "energy %.12e, x %.6f\n",
        s.n, steps, t.loop_count, elapsed, t.loops, t.serial, energy, t.x);
    if (checks) {
      const double difference = largest_difference(&s);
      // The table itself is off by as much as 0.0085: finer computations find -0.2538 where it has
      // -0.2453.
      status = !(difference < 0.01);
      printf("fluid: largest difference from Ghia, Ghia, Shin (1982) %.4f: %s\n", difference,
             status ? "wrong" : "right");
    }
  }
  backend_end();
  return status;
}
