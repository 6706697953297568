// message_rate SECONDS BYTES WINDOW - time per message from rank 0 to rank 1, `window` in flight at
// a time, each window acknowledged by 4 bytes. The first byte of a message is the window's number;
// the last message of a window is checked.
#include "probe.h"

struct state {
  int rank, bytes, window;
  char number;
  char* buffer;
  MPI_Request* requests;
};

static void windows(void* pointer, int count) {
  struct state* s = pointer;
  int acknowledged = 0;
  for (int w = 0; w < count; w++) {
    s->number++;
    if (s->rank == 0) s->buffer[0] = s->number;
    for (int i = 0; i < s->window; i++) {
      if (s->rank == 0)
        MPI_Isend(s->buffer, s->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &s->requests[i]);
      else
        MPI_Irecv(s->buffer, s->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &s->requests[i]);
    }
    MPI_Waitall(s->window, s->requests, MPI_STATUSES_IGNORE);
    if (s->bytes > 0 && s->buffer[0] != s->number) probe_fail("message_rate: wrong data");
    if (s->rank == 0)
      MPI_Recv(&acknowledged, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Send(&acknowledged, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  if (p.ranks != 2) probe_fail("message_rate needs 2 ranks");
  struct state s = {.rank = p.rank, .bytes = probe_argument(&p, 0, 8)};
  s.window = probe_argument(&p, 1, 32);
  s.buffer = probe_allocate((size_t)s.bytes + 1);
  s.requests = probe_allocate((size_t)s.window * sizeof *s.requests);
  probe_series(&p, "message", 1e9 / s.window, "ns", windows, &s);
  free(s.buffer), free(s.requests);
  probe_end();
  return 0;
}
