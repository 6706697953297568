// imbalance WORK_US STEPS PERIOD_MS - ranks of which half have all work.
//
// In a step each busy rank computes for about WORK_US; then all ranks reduce a number. PERIOD_MS is
// the time after which the other half becomes busy; 0: never. The first half begins. Prints
//   result compute VALUE us    of one busy rank alone, before and after the steps
//   result step VALUE us       a line for each step
// so the ideal is compute x (busy ranks) / workers. Exits 1 if a rank computed something wrong.
// With AMPI, ranks may be moved every 10 steps.
#include "probe.h"

enum { steps_between_moves = 10, calibrations = 20 };

static void allow_moves(int step) {
#ifdef AMPI
  if (step % steps_between_moves == steps_between_moves - 1) AMPI_Migrate(AMPI_INFO_LB_SYNC);
#else
  (void)step;
#endif
}

// Rank 0 alone computes. The best of several, in us.
static double time_alone(int rank, long iterations) {
  double best = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < calibrations; i++) {
    const double start = probe_now();
    if (probe_compute(iterations) != 1) probe_fail("imbalance: wrong result");
    const double us = (probe_now() - start) * 1e6;
    if (i == 0 || us < best) best = us;
  }
  MPI_Bcast(&best, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return best;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double work_us = argc > 1 ? atof(argv[1]) : 1000;
  const int steps = argc > 2 ? atoi(argv[2]) : 500, period_ms = argc > 3 ? atoi(argv[3]) : 0;
  if (!(work_us >= 1 && work_us <= 1e6) || steps < 1 || period_ms < 0)
    probe_fail("imbalance WORK_US STEPS PERIOD_MS");
  const long probing = 100000;
  const long iterations = (long)((double)probing * work_us / time_alone(rank, probing));
  const double alone_before = time_alone(rank, iterations);

  double* samples = probe_allocate((size_t)steps * sizeof *samples);
  int busy_half = 0;
  double wrong = 0;
  const double start = probe_now();
  double before = start;
  for (int step = 0; step < steps; step++) {
    if (rank / ((ranks + 1) / 2) == busy_half) wrong += probe_compute(iterations) != 1;
    // Rank 0's clock decides for all ranks.
    double mine = 0, half = 0;
    if (rank == 0 && period_ms > 0)
      mine = (double)((long)((probe_now() - start) * 1e3 / period_ms) % 2);
    MPI_Allreduce(&mine, &half, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    busy_half = (int)half;
    allow_moves(step);
    const double after = probe_now();
    samples[step] = (after - before) * 1e6;
    before = after;
  }
  const double alone_after = time_alone(rank, iterations);
  double wrong_anywhere = 0;
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    probe_print("compute", alone_before < alone_after ? alone_before : alone_after, "us");
    for (int step = 0; step < steps; step++)
      probe_print("step", samples[step], "us");
  }
  free(samples);
  MPI_Finalize();
  return wrong_anywhere != 0;
}
