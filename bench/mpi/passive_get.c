// passive_get SECONDS COUNT - time of an MPI_Get of COUNT doubles and its flush, in an epoch of
// MPI_Win_lock_all: each rank reads from all other ranks in turn.
#include "../probes/probe.h"

enum { places = 16 };

struct state {
  int rank, ranks, count;
  double* into;
  MPI_Win win;
};

static double value_of(int rank, int place) {
  return rank * 100.0 + place;
}

static void gets(void* pointer, int count) {
  struct state* s = pointer;
  const int n = s->count;
  for (int i = 0; i < count; i++) {
    const int target = (s->rank + 1 + i % (s->ranks - 1)) % s->ranks, place = i % places;
    s->into[0] = s->into[n - 1] = -1;
    MPI_Get(s->into, n, MPI_DOUBLE, target, (MPI_Aint)place * n, n, MPI_DOUBLE, s->win);
    MPI_Win_flush(target, s->win);
    if (s->into[0] != value_of(target, place) || s->into[n - 1] != value_of(target, place))
      probe_fail("passive_get: wrong data");
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.rank = p.rank, .ranks = p.ranks, .count = probe_argument(&p, 0, 128)};
  if (p.ranks < 2) probe_fail("passive_get: at least 2 ranks are needed");
  const size_t all = (size_t)places * (size_t)s.count;
  double* window;
  s.into = probe_allocate((size_t)s.count * sizeof(double));
  MPI_Win_allocate((MPI_Aint)(all * sizeof(double)), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &window, &s.win);
  MPI_Win_lock_all(0, s.win);
  for (size_t i = 0; i < all; i++)
    window[i] = value_of(s.rank, (int)(i / (size_t)s.count));
  MPI_Win_sync(s.win);
  MPI_Barrier(MPI_COMM_WORLD);
  probe_series(&p, "get", 1e6, "us", gets, &s);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(s.win);
  MPI_Win_free(&s.win);
  free(s.into);
  probe_end();
  return 0;
}
