// self_message SECONDS [BYTES] - time of a message from a rank to itself, on all ranks at once.
//
// All messages use the same buffers.
#include "probe.h"

struct messages {
  int rank, bytes;
  char *out, *in;
};

static void send_to_self(void* state, int count) {
  const struct messages* m = state;
  for (int i = 0; i < count; i++) {
    MPI_Request request;
    MPI_Irecv(m->in, m->bytes, MPI_BYTE, m->rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(m->out, m->bytes, MPI_BYTE, m->rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct messages m = {.rank = p.rank, .bytes = probe_argument(&p, 0, 8)};
  if (m.bytes < 1) probe_fail("a message has at least one byte");
  m.out = probe_allocate((size_t)m.bytes);
  m.in = probe_allocate((size_t)m.bytes);
  probe_series(&p, "self_message", 1e9, "ns", send_to_self, &m);
  free(m.out);
  free(m.in);
  probe_end();
  return 0;
}
