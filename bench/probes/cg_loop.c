// cg_loop SECONDS - time of an iteration like that of conjugate gradients with little work.
//
// Every rank starts a ring exchange of 1 KiB both ways, computes for about 5.6 us, waits for the
// exchange and takes part in two reductions. The computation is timed separately, so that the
// driver can compute the ideal: computation x ranks / cores. One line of each name per sample.
// Every message and every sum is checked.
#include <math.h>

#include "probe.h"

enum { numbers = 256, sweeps = 15, edge_bytes = 1024 };

struct state {
  int rank, ranks, iteration;
  double sum, seconds_computing;
  double values[numbers];
  char out[2][edge_bytes], in[2][edge_bytes];
};

// A chain of dependent additions: the compiler cannot shorten it, on any core.
static double compute(double* values) {
  double sum = 0;
  for (int sweep = 0; sweep < sweeps; sweep++)
    for (int i = 0; i < numbers; i++) {
      sum += values[i] * 1.0000001;
      values[i] += 1e-9 * sum;
    }
  return sum;
}

// What a rank sends to one side in an iteration, at the end of the message.
static void mark(char* message, int rank, int side, int iteration) {
  const int marks[] = {rank, side, iteration};
  memcpy(message + edge_bytes - sizeof marks, marks, sizeof marks);
}

static void check_mark(const char* message, int rank, int side, int iteration) {
  char expected[edge_bytes];
  mark(expected, rank, side, iteration);
  const size_t from = edge_bytes - 3 * sizeof(int);
  if (memcmp(message + from, expected + from, edge_bytes - from) != 0)
    probe_fail("cg_loop: wrong message");
}

// All ranks have contributed the same value. Sums in another order differ by roundings.
static void check_sum(double sum, double value, int ranks) {
  if (!(fabs(sum - ranks * value) <= 1e-12 * ranks * fabs(sum))) probe_fail("cg_loop: wrong sum");
}

static void iterations(void* pointer, int count) {
  struct state* s = pointer;
  const int left = (s->rank + s->ranks - 1) % s->ranks, right = (s->rank + 1) % s->ranks;
  for (int i = 0; i < count; i++) {
    const int iteration = s->iteration++;
    mark(s->out[0], s->rank, 0, iteration);
    mark(s->out[1], s->rank, 1, iteration);
    MPI_Request requests[4];
    MPI_Irecv(s->in[0], edge_bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(s->in[1], edge_bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(s->out[0], edge_bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(s->out[1], edge_bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[3]);

    const double before = probe_now();
    s->sum += compute(s->values);
    s->seconds_computing += probe_now() - before;

    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    check_mark(s->in[0], left, 0, iteration);
    check_mark(s->in[1], right, 1, iteration);
    double over_all;
    MPI_Allreduce(&s->sum, &over_all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_sum(over_all, s->sum, s->ranks);
    MPI_Allreduce(&over_all, &s->sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check_sum(s->sum, over_all, s->ranks);
    s->sum *= 1e-30;
  }
}

// Microseconds of computation per rank and iteration since the last call. Rank 0's result counts.
static double take_computing(struct state* s, int count) {
  double all = 0;
  MPI_Reduce(&s->seconds_computing, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  s->seconds_computing = 0;
  return all / s->ranks / count * 1e6;
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state* s = probe_allocate(sizeof *s);
  s->rank = p.rank;
  s->ranks = p.ranks;
  for (int i = 0; i < numbers; i++)
    s->values[i] = i;

  double loops[sample_count_max], computing[sample_count_max];
  p.sample_seconds = 5e-3;
  const int count = probe_count_per_sample(&p, iterations, s);
  take_computing(s, count);
  const double start = probe_now();
  int sample_count = 0, is_over = 0;
  while (!is_over) {
    loops[sample_count] = probe_time(iterations, s, count) / count * 1e6;
    computing[sample_count++] = take_computing(s, count);
    is_over =
        probe_agree(sample_count == sample_count_max ||
                    (sample_count >= sample_count_min && probe_now() - start >= p.series_seconds));
  }
  for (int i = 0; p.rank == 0 && i < sample_count; i++) {
    probe_print("iteration", loops[i], "us");
    probe_print("compute", computing[i], "us");
  }
  free(s);
  probe_end();
  return 0;
}
