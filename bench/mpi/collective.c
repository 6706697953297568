// collective SECONDS NAME COUNT - time of one collective of COUNT doubles (per block, where there
// are blocks) over all ranks.
#include "../probes/probe.h"

struct state {
  int rank, ranks, count;
  double *in, *out;
};

// Ranks, and rounds, have different values; sums stay exact.
static double value_of(int rank, int round) {
  return rank + 4096.0 * (round % 1024);
}

static double sum_of(int ranks, int round) {
  return 0.5 * ranks * (ranks - 1) + ranks * value_of(0, round);
}

static void require(int is_right) {
  if (!is_right) probe_fail("collective: wrong result");
}

static void mark(const struct state* s, int blocks, int round) {
  for (int b = 0; b < blocks; b++) {
    double* block = s->in + (size_t)b * (size_t)s->count;
    block[0] = block[s->count - 1] = value_of(s->rank, round) + 1e7 * b;
  }
}

// Whether a block of the result has the value at both ends.
static int has(const struct state* s, int block, double value) {
  const double* at = s->out + (size_t)block * (size_t)s->count;
  return at[0] == value && at[s->count - 1] == value;
}

static void barriers(void* pointer, int count) {
  (void)pointer;
  for (int i = 0; i < count; i++)
    MPI_Barrier(MPI_COMM_WORLD);
}

static void broadcasts(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    if (s->rank == 0) s->out[0] = s->out[s->count - 1] = value_of(5, i);
    MPI_Bcast(s->out, s->count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    require(has(s, 0, value_of(5, i)));
  }
}

static void reductions(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, 1, i);
    MPI_Reduce(s->in, s->out, s->count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    require(s->rank != 0 || has(s, 0, sum_of(s->ranks, i)));
  }
}

static void allreduces(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, 1, i);
    MPI_Allreduce(s->in, s->out, s->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    require(has(s, 0, sum_of(s->ranks, i)));
  }
}

static void allgathers(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, 1, i);
    MPI_Allgather(s->in, s->count, MPI_DOUBLE, s->out, s->count, MPI_DOUBLE, MPI_COMM_WORLD);
    require(has(s, 0, value_of(0, i)) && has(s, s->ranks - 1, value_of(s->ranks - 1, i)));
  }
}

static void gathers(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, 1, i);
    MPI_Gather(s->in, s->count, MPI_DOUBLE, s->out, s->count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    require(s->rank != 0 || has(s, s->ranks - 1, value_of(s->ranks - 1, i)));
  }
}

static void scatters(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    if (s->rank == 0) mark(s, s->ranks, i);
    MPI_Scatter(s->in, s->count, MPI_DOUBLE, s->out, s->count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    require(has(s, 0, value_of(0, i) + 1e7 * s->rank));
  }
}

static void exchanges(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, s->ranks, i);
    MPI_Alltoall(s->in, s->count, MPI_DOUBLE, s->out, s->count, MPI_DOUBLE, MPI_COMM_WORLD);
    require(has(s, 0, value_of(0, i) + 1e7 * s->rank) &&
            has(s, s->ranks - 1, value_of(s->ranks - 1, i) + 1e7 * s->rank));
  }
}

static void scatter_sums(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, s->ranks, i);
    MPI_Reduce_scatter_block(s->in, s->out, s->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    require(has(s, 0, sum_of(s->ranks, i) + 1e7 * s->rank * s->ranks));
  }
}

static void scans(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, 1, i);
    MPI_Scan(s->in, s->out, s->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    require(has(s, 0, sum_of(s->rank + 1, i)));
  }
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    operation operate;
  } operations[] = {{"barrier", barriers},
                    {"bcast", broadcasts},
                    {"reduce", reductions},
                    {"allreduce", allreduces},
                    {"allgather", allgathers},
                    {"gather", gathers},
                    {"scatter", scatters},
                    {"alltoall", exchanges},
                    {"reduce_scatter", scatter_sums},
                    {"scan", scans}};
  struct probe p = probe_begin(argc, argv);
  struct state s = {.rank = p.rank, .ranks = p.ranks, .count = probe_argument(&p, 1, 1)};
  const char* name = p.argument_count > 0 ? p.arguments[0] : "";
  // Only these have a block for each rank.
  const int has_many_in =
      !strcmp(name, "scatter") || !strcmp(name, "alltoall") || !strcmp(name, "reduce_scatter");
  const int has_many_out =
      !strcmp(name, "gather") || !strcmp(name, "alltoall") || !strcmp(name, "allgather");
  if (s.count < 1) probe_fail("collective: COUNT must be at least 1");
  s.in = probe_allocate((size_t)s.count * (size_t)(has_many_in ? p.ranks : 1) * sizeof(double));
  s.out = probe_allocate((size_t)s.count * (size_t)(has_many_out ? p.ranks : 1) * sizeof(double));
  int is_known = 0;
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    if (strcmp(operations[i].name, name) != 0) continue;
    is_known = 1;
    probe_series(&p, name, 1e6, "us", operations[i].operate, &s);
  }
  if (!is_known) probe_fail("collective: no such collective");
  free(s.in), free(s.out);
  probe_end();
  return 0;
}
