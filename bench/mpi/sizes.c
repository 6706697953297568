// sizes SECONDS LARGEST - times of nine operations for 8 bytes to LARGEST, in doublings, with
// buffers as malloc gives them, and of the best copy of the machine (probe_copy) by all ranks at
// once: in as many blocks, so the caches hold as much. Each operation checks both ends of what it
// has received. Series: OPERATION_BYTES, copy_BYTES.
#include "../probes/probe.h"

struct state {
  int rank, ranks, count;  // doubles of a block
  double *from, *to;       // a block for each rank
  char *from_page, *to_page;
  int way;
  MPI_Win window;
  MPI_Datatype strided;
};

// Ranks, blocks and rounds have different values; sums stay exact.
static double value_of(int rank, int block, int round) {
  return rank + 64.0 * block + 4096.0 * (round % 1024);
}

static void mark(const struct state* s, int block, double value) {
  double* at = s->from + (size_t)block * (size_t)s->count;
  at[0] = at[s->count - 1] = value;
}

static void require(const double* block, int count, double value) {
  if (block[0] != value || block[count - 1] != value) probe_fail("sizes: wrong data");
}

static void require_block(const struct state* s, int block, double value) {
  require(s->to + (size_t)block * (size_t)s->count, s->count, value);
}

static void bcast(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    if (s->rank == 0) mark(s, 0, value_of(5, 0, i));
    MPI_Bcast(s->from, s->count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    require(s->from, s->count, value_of(5, 0, i));
  }
}

static void allgather(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, 0, value_of(s->rank, 0, i));
    MPI_Allgather(s->from, s->count, MPI_DOUBLE, s->to, s->count, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < s->ranks; r++)
      require_block(s, r, value_of(r, 0, i));
  }
}

static void alltoall(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    for (int r = 0; r < s->ranks; r++)
      mark(s, r, value_of(s->rank, r, i));
    MPI_Alltoall(s->from, s->count, MPI_DOUBLE, s->to, s->count, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int r = 0; r < s->ranks; r++)
      require_block(s, r, value_of(r, s->rank, i));
  }
}

static double sum_of(const struct state* s, int round) {
  return 0.5 * s->ranks * (s->ranks - 1) + s->ranks * value_of(0, 0, round);
}

static void allreduce(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, 0, value_of(s->rank, 0, i));
    MPI_Allreduce(s->from, s->to, s->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    require_block(s, 0, sum_of(s, i));
  }
}

static void reduce(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, 0, value_of(s->rank, 0, i));
    MPI_Reduce(s->from, s->to, s->count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (s->rank == 0) require_block(s, 0, sum_of(s, i));
  }
}

static void gather(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    mark(s, 0, value_of(s->rank, 0, i));
    MPI_Gather(s->from, s->count, MPI_DOUBLE, s->to, s->count, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int r = 0; s->rank == 0 && r < s->ranks; r++)
      require_block(s, r, value_of(r, 0, i));
  }
}

static void sendrecv(void* pointer, int count) {
  const struct state* s = pointer;
  const int right = (s->rank + 1) % s->ranks, left = (s->rank + s->ranks - 1) % s->ranks;
  for (int i = 0; i < count; i++) {
    mark(s, 0, value_of(s->rank, 0, i));
    MPI_Sendrecv(s->from, s->count, MPI_DOUBLE, right, 0, s->to, s->count, MPI_DOUBLE, left, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    require_block(s, 0, value_of(left, 0, i));
  }
}

static void put(void* pointer, int count) {
  const struct state* s = pointer;
  const int right = (s->rank + 1) % s->ranks, left = (s->rank + s->ranks - 1) % s->ranks;
  for (int i = 0; i < count; i++) {
    mark(s, 0, value_of(s->rank, 0, i));
    // In turn into two blocks: one is read while a fast neighbour may put into the other.
    MPI_Put(s->from, s->count, MPI_DOUBLE, right, (MPI_Aint)(i % 2) * s->count, s->count,
            MPI_DOUBLE, s->window);
    MPI_Win_fence(0, s->window);
    require_block(s, i % 2, value_of(left, 0, i));
  }
}

// Every other run of up to 256 bytes.
static void strided(void* pointer, int count) {
  const struct state* s = pointer;
  const int right = (s->rank + 1) % s->ranks, left = (s->rank + s->ranks - 1) % s->ranks;
  for (int i = 0; i < count; i++) {
    s->from[0] = value_of(s->rank, 0, i);
    MPI_Sendrecv(s->from, 1, s->strided, right, 0, s->to, 1, s->strided, left, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (s->to[0] != value_of(left, 0, i)) probe_fail("sizes: wrong data");
  }
}

static void copy(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++)
    probe_copy(s->way, s->to_page, s->from_page, (size_t)s->count * sizeof(double));
}

static void run_size(const struct probe* p, int bytes) {
  static const struct {
    const char* name;
    operation operate;
  } operations[] = {{"copy", copy},         {"bcast", bcast},         {"allgather", allgather},
                    {"alltoall", alltoall}, {"allreduce", allreduce}, {"reduce", reduce},
                    {"gather", gather},     {"sendrecv", sendrecv},   {"put", put},
                    {"strided", strided}};

  const size_t block = (size_t)bytes, blocks = (size_t)p->ranks * block;
  struct state s = {.rank = p->rank, .ranks = p->ranks, .count = (int)(block / sizeof(double))};
  s.from = malloc(blocks);
  s.to = malloc(blocks);
  char* const from = malloc(block + probe_copy_room);
  char* const to = malloc(block + probe_copy_room);
  if (s.from == NULL || s.to == NULL || from == NULL || to == NULL) probe_fail("out of memory");
  memset(s.from, 0, blocks), memset(s.to, 0, blocks);
  memset(from, 0, block + probe_copy_room), memset(to, 0, block + probe_copy_room);
  s.from_page = probe_page(from), s.to_page = probe_page(to);
  double seconds;
  MPI_Barrier(MPI_COMM_WORLD);
  s.way = probe_agree(p->rank == 0 ? probe_best_copy(s.to_page, s.from_page, block, &seconds) : 0);
  MPI_Win_create(s.to, (MPI_Aint)blocks, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &s.window);
  const int run = s.count < 32 ? (s.count + 1) / 2 : 32;
  MPI_Type_vector(s.count < 64 ? 1 : s.count / 64, run, 64, MPI_DOUBLE, &s.strided);
  MPI_Type_commit(&s.strided);
  MPI_Win_fence(0, s.window);
  for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
    char name[64];
    snprintf(name, sizeof name, "%s_%d", operations[i].name, bytes);
    probe_series(p, name, 1e6, "us", operations[i].operate, &s);
  }
  MPI_Type_free(&s.strided);
  MPI_Win_free(&s.window);
  free(s.from), free(s.to), free(from), free(to);
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  // Two hundred short series.
  p.sample_seconds = 2e-4;
  p.series_seconds /= 20;
  const int largest = probe_argument(&p, 0, 4 << 20);
  for (int bytes = 8; bytes <= largest; bytes *= 2)
    run_size(&p, bytes);
  probe_end();
  return 0;
}
