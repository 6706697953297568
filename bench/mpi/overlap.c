// overlap SECONDS COUNT SPINS - a nonblocking allreduce of COUNT doubles beside computing, without
// a test call.
//
// SPINS > 0: each rank computes as many steps. SPINS = 0: as long as makes the computing of all
// ranks take 1.5 times the allreduce alone. Three series, of the same operations:
//   pure        MPI_Iallreduce and MPI_Wait
//   compute     the computing alone
//   overlapped  MPI_Iallreduce, computing, MPI_Wait
// A share of the allreduce is hidden: (pure + compute - overlapped) / pure.
#include "../probes/probe.h"

struct state {
  int rank, ranks, count, spins;
  double* in;
  double* out;
  double value;  // result of the computing
};

static double compute(double x, int spins) {
  for (int i = 0; i < spins; i++)
    x = x * 0.999999 + 1e-6;
  return x;
}

static void prepare(struct state* s, int i) {
  // All elements change in a bounded time; the first and the last are checked.
  s->in[0] = s->rank + i;
  s->in[s->count - 1] = s->rank - i;
}

static void check(const struct state* s, int i) {
  const double ranks = 0.5 * s->ranks * (s->ranks - 1);
  if (s->out[s->count - 1] != ranks - (double)i * s->ranks ||
      (s->count > 1 && s->out[0] != ranks + (double)i * s->ranks))
    probe_fail("overlap: wrong sum");
}

static void reductions(struct state* s, int count, int spins) {
  for (int i = 0; i < count; i++) {
    MPI_Request request;
    prepare(s, i);
    MPI_Iallreduce(s->in, s->out, s->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    s->value = compute(s->value, spins);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(s, i);
  }
}

static void pure(void* pointer, int count) {
  reductions(pointer, count, 0);
}

static void overlapped(void* pointer, int count) {
  struct state* s = pointer;
  reductions(s, count, s->spins);
}

static void computes(void* pointer, int count) {
  struct state* s = pointer;
  for (int i = 0; i < count; i++)
    s->value = compute(s->value, s->spins);
}

static double best_of_five(operation operate, struct state* s, int count) {
  double best = 1e9;
  for (int i = 0; i < 5; i++) {
    const double seconds = probe_time(operate, s, count) / count;
    if (seconds < best) best = seconds;
  }
  return best;
}

// Steps of computing for 1.5 times the time of an allreduce; the same on every rank.
static int fitting_spins(struct state* s) {
  const double seconds = best_of_five(pure, s, 4);
  s->spins = 100000;
  const double each = best_of_five(computes, s, 1) / s->spins;
  const double spins = s->rank == 0 ? 1.5 * seconds / each : 0;
  return probe_agree(spins < 1 ? 1 : spins > 1e9 ? 1000000000 : (int)spins);
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.rank = p.rank,
                    .ranks = p.ranks,
                    .count = probe_argument(&p, 0, 1024),
                    .spins = probe_argument(&p, 1, 0)};
  if (s.count < 1) probe_fail("overlap: COUNT must be at least 1");
  s.in = probe_allocate((size_t)s.count * sizeof *s.in);
  s.out = probe_allocate((size_t)s.count * sizeof *s.out);
  if (s.spins == 0) s.spins = fitting_spins(&s);
  probe_series(&p, "pure", 1e6, "us", pure, &s);
  probe_series(&p, "compute", 1e6, "us", computes, &s);
  probe_series(&p, "overlapped", 1e6, "us", overlapped, &s);
  if (s.value < 0) probe_fail("overlap: wrong computing");  // the result is used
  free(s.in), free(s.out);
  probe_end();
  return 0;
}
