// persistent SECONDS COUNT - time of an allreduce of COUNT doubles that is started again and again.
#include "../probes/probe.h"
#ifdef OPEN_MPI
#include <mpi-ext.h>
#if OMPI_MAJOR_VERSION < 5
#define MPI_Allreduce_init MPIX_Allreduce_init
#endif
#endif

struct state {
  int rank, ranks, count;
  double *in, *out;
  MPI_Request request;
};

static void allreduces(void* pointer, int count) {
  struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    s->in[0] = s->rank + i;
    MPI_Start(&s->request);
    MPI_Wait(&s->request, MPI_STATUS_IGNORE);
    if (s->out[0] != 0.5 * s->ranks * (s->ranks - 1) + (double)i * s->ranks)
      probe_fail("persistent: wrong sum");
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.rank = p.rank, .ranks = p.ranks, .count = probe_argument(&p, 0, 1)};
  s.in = probe_allocate((size_t)s.count * sizeof *s.in);
  s.out = probe_allocate((size_t)s.count * sizeof *s.out);
  MPI_Allreduce_init(s.in, s.out, s.count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &s.request);
  probe_series(&p, "allreduce", 1e6, "us", allreduces, &s);
  MPI_Request_free(&s.request);
  free(s.in), free(s.out);
  probe_end();
  return 0;
}
