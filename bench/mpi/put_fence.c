// put_fence SECONDS COUNT - time of a step in which each rank puts COUNT doubles into the windows
// of both its neighbours in a ring, and of the fence that ends it.
#include "../probes/probe.h"

struct state {
  int rank, ranks, count;
  double *out, *window;  // the window: from the left, from the right; two steps in turn
  MPI_Win win;
};

static void steps(void* pointer, int count) {
  struct state* s = pointer;
  const int left = (s->rank + s->ranks - 1) % s->ranks, right = (s->rank + 1) % s->ranks;
  const int n = s->count;
  for (int i = 0; i < count; i++) {
    s->out[0] = s->out[n - 1] = s->rank + 1000.0 * i;
    // The values of a step are read while a fast neighbour may put those of the next one.
    const int base = 2 * n * (i % 2);
    MPI_Put(s->out, n, MPI_DOUBLE, right, base, n, MPI_DOUBLE, s->win);
    MPI_Put(s->out, n, MPI_DOUBLE, left, base + n, n, MPI_DOUBLE, s->win);
    MPI_Win_fence(0, s->win);
    const double *from_left = s->window + base, *from_right = from_left + n;
    if (from_left[0] != left + 1000.0 * i || from_left[n - 1] != left + 1000.0 * i ||
        from_right[0] != right + 1000.0 * i || from_right[n - 1] != right + 1000.0 * i)
      probe_fail("put_fence: wrong data");
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.rank = p.rank, .ranks = p.ranks, .count = probe_argument(&p, 0, 128)};
  const MPI_Aint bytes = (MPI_Aint)(4 * (size_t)s.count * sizeof(double));
  s.out = probe_allocate((size_t)s.count * sizeof(double));
  MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &s.window, &s.win);
  MPI_Win_fence(0, s.win);
  probe_series(&p, "step", 1e6, "us", steps, &s);
  MPI_Win_fence(0, s.win);
  MPI_Win_free(&s.win);
  free(s.out);
  probe_end();
  return 0;
}
