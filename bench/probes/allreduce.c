// allreduce SECONDS - time of an MPI_Allreduce of one double over all ranks.
#include "probe.h"

struct state {
  int ranks;
};

static void allreduces(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    double one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != s->ranks) probe_fail("allreduce: wrong sum");
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.ranks = p.ranks};
  probe_series(&p, "allreduce", 1e6, "us", allreduces, &s);
  probe_end();
  return 0;
}
