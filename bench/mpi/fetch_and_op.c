// fetch_and_op SECONDS - time of an MPI_Fetch_and_op and its flush: all ranks add to a counter of
// rank 0, in an epoch of MPI_Win_lock_all.
#include "../probes/probe.h"

struct state {
  long added, last;  // by this rank; the value that it fetched last
  MPI_Win win;
};

static void additions(void* pointer, int count) {
  struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    long one = 1, before = -1;
    MPI_Fetch_and_op(&one, &before, MPI_LONG, 0, 0, MPI_SUM, s->win);
    MPI_Win_flush(0, s->win);
    if (before <= s->last) probe_fail("fetch_and_op: a value was fetched twice");
    s->last = before;
    s->added++;
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.last = -1};
  long* counter;
  const MPI_Aint bytes = p.rank == 0 ? (MPI_Aint)sizeof(long) : 0;
  MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &s.win);
  MPI_Win_lock_all(0, s.win);
  if (p.rank == 0) {
    *counter = 0;
    MPI_Win_sync(s.win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  probe_series(&p, "addition", 1e6, "us", additions, &s);
  long all = 0, zero = 0, value = 0;
  MPI_Allreduce(&s.added, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Fetch_and_op(&zero, &value, MPI_LONG, 0, 0, MPI_NO_OP, s.win);
  MPI_Win_flush(0, s.win);
  if (value != all) probe_fail("fetch_and_op: additions were lost");
  MPI_Win_unlock_all(s.win);
  MPI_Win_free(&s.win);
  probe_end();
  return 0;
}
