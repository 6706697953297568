// latency PATTERN WORK_US STEPS - steps of work that is divided among the ranks, each with an
// exchange.
//
// In a step all ranks together compute for about WORK_US, and then exchange by PATTERN:
//   ring   a double to the next rank, from the one before
//   line   a double with the rank before and with the next one; the ends have one neighbour
//   grid   the same in rows and columns; rows have four ranks or more
//   all    MPI_Alltoall of a double
// Prints result step VALUE us, the mean. Exits 1 if a rank received something wrong.
#include <string.h>

#include "probe.h"

static int wrong;

static void exchange(int with_source, int with_destination, int tag, double step) {
  const double mine = step;
  double other = step;
  MPI_Sendrecv(&mine, 1, MPI_DOUBLE, with_destination, tag, &other, 1, MPI_DOUBLE, with_source, tag,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wrong |= other != step;
}

// Both ways with two partners at once, one of which may be none.
static void exchange_both(int before, int after, int tag, double step) {
  double mine = step, others[2] = {step, step};
  MPI_Request requests[4];
  MPI_Irecv(&others[0], 1, MPI_DOUBLE, before, tag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&others[1], 1, MPI_DOUBLE, after, tag, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&mine, 1, MPI_DOUBLE, before, tag, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&mine, 1, MPI_DOUBLE, after, tag, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  wrong |= others[0] != step || others[1] != step;
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const char* pattern = argc > 1 ? argv[1] : "ring";
  const double work_us = argc > 2 ? atof(argv[2]) : 1000;
  const int steps = argc > 3 ? atoi(argv[3]) : 40;
  if (!(work_us >= 0 && work_us <= 1e7) || steps < 1 || !strchr("rlga", pattern[0]))
    probe_fail("latency ring|line|grid|all WORK_US STEPS");
  // The best of several, on one rank alone.
  const long probing = 100000;
  double best = 1;
  for (int i = 0; rank == 0 && i < 20; i++) {
    const double start = probe_now();
    if (probe_compute(probing) != 1) probe_fail("latency: wrong result");
    const double time = probe_now() - start;
    if (time < best) best = time;
  }
  MPI_Bcast(&best, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const long iterations = (long)((double)probing * work_us * 1e-6 / best / ranks);
  int width = 4;
  while (width * width < ranks && ranks % (2 * width) == 0)
    width *= 2;
  double* sent = probe_allocate((size_t)ranks * sizeof *sent);
  double* received = probe_allocate((size_t)ranks * sizeof *received);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = probe_now();
  for (int step = 0; step < steps; step++) {
    wrong |= iterations > 0 && probe_compute(iterations) != 1;
    const int none = MPI_PROC_NULL;
    switch (pattern[0]) {
      case 'r':
        exchange((rank + ranks - 1) % ranks, (rank + 1) % ranks, 0, step);
        break;
      case 'l':
        exchange_both(rank > 0 ? rank - 1 : none, rank + 1 < ranks ? rank + 1 : none, 0, step);
        break;
      case 'g':
        exchange_both(rank % width > 0 ? rank - 1 : none,
                      rank % width + 1 < width ? rank + 1 : none, 0, step);
        exchange_both(rank >= width ? rank - width : none,
                      rank + width < ranks ? rank + width : none, 1, step);
        break;
      default:
        for (int i = 0; i < ranks; i++)
          sent[i] = step;
        MPI_Alltoall(sent, 1, MPI_DOUBLE, received, 1, MPI_DOUBLE, MPI_COMM_WORLD);
        for (int i = 0; i < ranks; i++)
          wrong |= received[i] != step;
        break;
    }
  }
  const double mean_us = (probe_now() - start) / steps * 1e6;
  if (rank == 0) probe_print("step", mean_us, "us");
  free(sent);
  free(received);
  int wrong_anywhere = 0;
  MPI_Allreduce(&wrong, &wrong_anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong_anywhere;
}
