// kneighbor SECONDS BYTES K - time of an iteration in which every rank of a ring exchanges messages
// with its K neighbours on each side.
//
// Each message that arrives is sent back to its source; an iteration is over when all 2K have come
// back. A message begins with the edge and the iteration, and what comes back is checked.
#include "probe.h"

struct state {
  int bytes, edges, iteration;
  int *to, *from;  // edge e leads to to[e]; messages along it come from from[e]
  char *out, *in, *answers;
  MPI_Request* requests;  // in, answers, out, sending back
};

enum { answer_tag = 1000 };

// The first bytes of a message; a shorter one has a part of them.
struct mark {
  int edge, iteration;
};

static size_t mark_bytes(const struct state* s) {
  return (size_t)s->bytes < sizeof(struct mark) ? (size_t)s->bytes : sizeof(struct mark);
}

static void mark_messages(const struct state* s) {
  for (int e = 0; e < s->edges; e++) {
    const struct mark mark = {e, s->iteration};
    memcpy(s->out + (size_t)e * (size_t)s->bytes, &mark, mark_bytes(s));
  }
}

static void check_answers(const struct state* s) {
  for (int e = 0; e < s->edges; e++) {
    const struct mark mark = {e, s->iteration};
    if (memcmp(s->answers + (size_t)e * (size_t)s->bytes, &mark, mark_bytes(s)) != 0)
      probe_fail("kneighbor: wrong answer");
  }
}

static void iterations(void* pointer, int count) {
  struct state* s = pointer;
  const int n = s->edges, bytes = s->bytes;
  MPI_Request *in = s->requests, *answers = in + n, *out = in + 2 * n, *back = in + 3 * n;
  for (int i = 0; i < count; i++) {
    s->iteration++;
    mark_messages(s);
    for (int e = 0; e < n; e++)
      MPI_Irecv(s->in + (size_t)e * (size_t)bytes, bytes, MPI_BYTE, s->from[e], e, MPI_COMM_WORLD,
                &in[e]);
    for (int e = 0; e < n; e++)
      MPI_Irecv(s->answers + (size_t)e * (size_t)bytes, bytes, MPI_BYTE, s->to[e], answer_tag + e,
                MPI_COMM_WORLD, &answers[e]);
    for (int e = 0; e < n; e++)
      MPI_Isend(s->out + (size_t)e * (size_t)bytes, bytes, MPI_BYTE, s->to[e], e, MPI_COMM_WORLD,
                &out[e]);
    for (int arrived = 0; arrived < n; arrived++) {
      int e;
      MPI_Waitany(n, in, &e, MPI_STATUS_IGNORE);
      MPI_Isend(s->in + (size_t)e * (size_t)bytes, bytes, MPI_BYTE, s->from[e], answer_tag + e,
                MPI_COMM_WORLD, &back[e]);
    }
    MPI_Waitall(3 * n, answers, MPI_STATUSES_IGNORE);
    check_answers(s);
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.bytes = probe_argument(&p, 0, 64), .edges = 2 * probe_argument(&p, 1, 3)};
  const size_t n = (size_t)s.edges, bytes = (size_t)s.bytes;
  s.to = probe_allocate(n * sizeof *s.to);
  s.from = probe_allocate(n * sizeof *s.from);
  s.out = probe_allocate(n * bytes);
  s.in = probe_allocate(n * bytes);
  s.answers = probe_allocate(n * bytes);
  s.requests = probe_allocate(4 * n * sizeof *s.requests);
  memset(s.out, 7, n * bytes);
  for (int e = 0; e < s.edges; e++) {
    const int distance = (e % 2 == 0 ? 1 : -1) * (e / 2 + 1) % p.ranks;  // 1, -1, 2, -2, ...
    s.to[e] = (p.rank + p.ranks + distance) % p.ranks;
    s.from[e] = (p.rank + p.ranks - distance) % p.ranks;
  }
  probe_series(&p, "iteration", 1e6, "us", iterations, &s);
  if (bytes > 0 && s.answers[n * bytes - 1] != 7) probe_fail("kneighbor: wrong data");
  free(s.to), free(s.from), free(s.out), free(s.in), free(s.answers), free(s.requests);
  probe_end();
  return 0;
}
