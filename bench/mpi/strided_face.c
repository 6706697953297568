// strided_face SECONDS N - time of an exchange of the face of a cube of N^3 doubles whose elements
// lie N apart, as a vector type, between ranks 2k and 2k + 1.
#include "../probes/probe.h"

struct state {
  int rank, n;
  double* cube;
  MPI_Datatype face;
};

static void exchanges(void* pointer, int count) {
  struct state* s = pointer;
  const int partner = s->rank ^ 1;
  const size_t n = (size_t)s->n, last = n * n * n - n;
  // The face k = 1 is sent, the one at k = 0 received.
  double *sent = s->cube + 1, *received = s->cube;
  for (int i = 0; i < count; i++) {
    sent[0] = s->rank + 10.0 * i;
    sent[last] = s->rank - 10.0 * i;
    MPI_Sendrecv(sent, 1, s->face, partner, 0, received, 1, s->face, partner, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (received[0] != partner + 10.0 * i || received[last] != partner - 10.0 * i)
      probe_fail("strided_face: wrong data");
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.rank = p.rank, .n = probe_argument(&p, 0, 64)};
  if (p.ranks % 2 != 0 || s.n < 2) probe_fail("strided_face: an even number of ranks is needed");
  const size_t n = (size_t)s.n;
  s.cube = probe_allocate(n * n * n * sizeof *s.cube);
  for (size_t i = 0; i < n * n; i++)
    s.cube[i * n + 1] = (double)i;
  MPI_Type_vector(s.n * s.n, 1, s.n, MPI_DOUBLE, &s.face);
  MPI_Type_commit(&s.face);
  probe_series(&p, "exchange", 1e6, "us", exchanges, &s);
  for (size_t i = 1; i + 1 < n * n; i++) {
    if (s.cube[i * n] != (double)i) probe_fail("strided_face: wrong face");
  }
  MPI_Type_free(&s.face);
  free(s.cube);
  probe_end();
  return 0;
}
