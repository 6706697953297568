// neighbor SECONDS BYTES - time of an MPI_Neighbor_alltoall of blocks of BYTES on a periodic grid
// of two dimensions.
#include "../probes/probe.h"

enum { neighbors = 4 };

struct state {
  MPI_Comm grid;
  int rank, bytes;
  int around[neighbors];  // ranks, in the order of the blocks
  char *out, *in;
};

static char mark(int rank, int round, int block) {
  return (char)(rank * 7 + round * 5 + block);
}

static void exchanges(void* pointer, int count) {
  struct state* s = pointer;
  const int bytes = s->bytes;
  for (int i = 0; i < count; i++) {
    for (int b = 0; b < neighbors; b++)
      s->out[b * bytes] = s->out[(b + 1) * bytes - 1] = mark(s->rank, i, b);
    MPI_Neighbor_alltoall(s->out, bytes, MPI_BYTE, s->in, bytes, MPI_BYTE, s->grid);
    for (int b = 0; b < neighbors; b++) {
      // The block from the negative direction is what that rank sent in the positive one.
      const char expected = mark(s->around[b], i, b ^ 1);
      if (s->in[b * bytes] != expected || s->in[(b + 1) * bytes - 1] != expected)
        probe_fail("neighbor: wrong data");
    }
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.bytes = probe_argument(&p, 0, 1024)};
  int dims[2] = {0, 0}, periods[2] = {1, 1};
  MPI_Dims_create(p.ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &s.grid);
  MPI_Comm_rank(s.grid, &s.rank);
  for (int d = 0; d < 2; d++)
    MPI_Cart_shift(s.grid, d, 1, &s.around[2 * d], &s.around[2 * d + 1]);
  s.out = probe_allocate((size_t)(neighbors * s.bytes));
  s.in = probe_allocate((size_t)(neighbors * s.bytes));
  probe_series(&p, "exchange", 1e6, "us", exchanges, &s);
  free(s.out), free(s.in);
  MPI_Comm_free(&s.grid);
  probe_end();
  return 0;
}
