// Broadcast, gather, scatter, allgather and alltoall, with their "v" and "w" forms and in place,
// deliver every element to its position and change no other byte; with every rank as the root and
// from no elements to a mebibyte.
#include "../check.h"

static int me, ranks;
static MPI_Comm comm;

enum { guard = -77 };

static int value_of(int from, int to, int i) {
  return (int)((unsigned)from * 1000003u + (unsigned)to * 1009u + (unsigned)i);
}

static int* new_ints(size_t count) {
  int* values = malloc((count + 1) * sizeof *values);
  for (size_t i = 0; i <= count; i++)
    values[i] = guard;
  return values;
}

/// Some roots; all ranks if there are few.
static int next_root(int root) {
  return ranks <= 16 || root < 1 ? root + 1
         : root < ranks / 2      ? ranks / 2
         : root < ranks - 1      ? ranks - 1
                                 : ranks;
}

static void broadcast(int root, int count) {
  int* values = new_ints((size_t)count);
  for (int i = 0; i < count && me == root; i++)
    values[i] = value_of(root, count, i);
  MPI_Bcast(values, count, MPI_INT, root, comm);
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(values[i], value_of(root, count, i));
  CHECK_EQUAL(values[count], guard);
  free(values);
}

static void fill(int* block, int count, int from, int to) {
  for (int i = 0; i < count; i++)
    block[i] = value_of(from, to, i);
}

static void check_block(const int* block, int count, int from, int to) {
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(block[i], value_of(from, to, i));
}

static void check_all_guard(const int* values, int count) {
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(values[i], guard);
}

static void gather(int root, int count, int in_place) {
  const size_t total = (size_t)ranks * (size_t)count;
  int* out = new_ints((size_t)count);
  int* in = me == root ? new_ints(total) : NULL;
  fill(out, count, me, root);
  if (me == root && in_place) {
    memcpy(in + (size_t)me * (size_t)count, out, (size_t)count * sizeof *in);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_INT, root, comm);
  } else {
    MPI_Gather(out, count, MPI_INT, in, count, MPI_INT, root, comm);
  }
  for (int from = 0; me == root && from < ranks; from++)
    check_block(in + (size_t)from * (size_t)count, count, from, root);
  if (me == root) CHECK_EQUAL(in[total], guard);
  free(in);
  free(out);
}

static void scatter(int root, int count, int in_place) {
  const size_t total = (size_t)ranks * (size_t)count;
  int* in = new_ints((size_t)count);
  int* out = me == root ? new_ints(total) : NULL;
  for (int to = 0; me == root && to < ranks; to++)
    fill(out + (size_t)to * (size_t)count, count, root, to);
  if (me == root && in_place) {
    MPI_Scatter(out, count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm);
    check_all_guard(in, count);
  } else {
    MPI_Scatter(out, count, MPI_INT, in, count, MPI_INT, root, comm);
    check_block(in, count, root, me);
  }
  CHECK_EQUAL(in[count], guard);
  free(in);
  free(out);
}

static void allgather(int count, int in_place) {
  const size_t total = (size_t)ranks * (size_t)count;
  int* in = new_ints(total);
  int* out = in_place ? in + (size_t)me * (size_t)count : new_ints((size_t)count);
  fill(out, count, me, 0);
  if (in_place) {
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_INT, comm);
  } else {
    MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, comm);
    free(out);
  }
  for (int from = 0; from < ranks; from++)
    check_block(in + (size_t)from * (size_t)count, count, from, 0);
  CHECK_EQUAL(in[total], guard);
  free(in);
}

static void alltoall(int count, int in_place) {
  const size_t total = (size_t)ranks * (size_t)count;
  int* in = new_ints(total);
  int* out = in_place ? in : new_ints(total);
  for (int to = 0; to < ranks; to++)
    fill(out + (size_t)to * (size_t)count, count, me, to);
  if (in_place) {
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, count, MPI_INT, comm);
  } else {
    MPI_Alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
    free(out);
  }
  for (int from = 0; from < ranks; from++)
    check_block(in + (size_t)from * (size_t)count, count, from, me);
  CHECK_EQUAL(in[total], guard);
  free(in);
}

// The irregular forms: rank r has irregular_count(r) elements, laid out from last to first with a
// hole after each block.
static int irregular_count(int rank) {
  return (rank * 7 + 3) % 5 == 0 ? 0 : (rank * 7 + 3) % 11;
}

typedef struct {
  int* counts;
  int* places;
  size_t total;
} Layout;

static Layout make_layout(int (*count_of)(int)) {
  Layout layout = {malloc((size_t)ranks * sizeof(int)), malloc((size_t)ranks * sizeof(int)), 0};
  for (int rank = ranks - 1; rank >= 0; rank--) {
    layout.counts[rank] = count_of(rank);
    layout.places[rank] = (int)layout.total;
    layout.total += (size_t)layout.counts[rank] + 1;
  }
  return layout;
}

static void free_layout(Layout* layout) {
  free(layout->counts);
  free(layout->places);
}

static void check_holes(const int* values, const Layout* layout) {
  for (int rank = 0; rank < ranks; rank++)
    CHECK_EQUAL(values[layout->places[rank] + layout->counts[rank]], guard);
}

static void irregular_gather_and_scatter(int root, int in_place) {
  Layout layout = make_layout(irregular_count);
  const int mine = irregular_count(me);
  const int at_root_in_place = me == root && in_place;
  int* own = new_ints((size_t)mine);
  int* all = me == root ? new_ints(layout.total) : NULL;
  fill(own, mine, me, root);
  if (at_root_in_place) memcpy(all + layout.places[me], own, (size_t)mine * sizeof *own);
  MPI_Gatherv(at_root_in_place ? MPI_IN_PLACE : own, mine, MPI_INT, all, layout.counts,
              layout.places, MPI_INT, root, comm);
  for (int from = 0; me == root && from < ranks; from++)
    check_block(all + layout.places[from], layout.counts[from], from, root);
  if (me == root) check_holes(all, &layout);
  for (int to = 0; me == root && to < ranks; to++)
    fill(all + layout.places[to], layout.counts[to], root + 1, to);
  MPI_Scatterv(all, layout.counts, layout.places, MPI_INT, at_root_in_place ? MPI_IN_PLACE : own,
               mine, MPI_INT, root, comm);
  if (!at_root_in_place) check_block(own, mine, root + 1, me);
  CHECK_EQUAL(own[mine], guard);
  free(all);
  free(own);
  free_layout(&layout);
}

static void irregular_allgather(int in_place) {
  Layout layout = make_layout(irregular_count);
  const int mine = irregular_count(me);
  int* own = new_ints((size_t)mine);
  int* all = new_ints(layout.total);
  fill(own, mine, me, 5);
  if (in_place) memcpy(all + layout.places[me], own, (size_t)mine * sizeof *own);
  MPI_Allgatherv(in_place ? MPI_IN_PLACE : own, mine, MPI_INT, all, layout.counts, layout.places,
                 MPI_INT, comm);
  for (int from = 0; from < ranks; from++)
    check_block(all + layout.places[from], layout.counts[from], from, 5);
  check_holes(all, &layout);
  free(all);
  free(own);
  free_layout(&layout);
}

// Amount of data between two ranks: the same in both directions, as in-place exchanges need.
static int pair_count(int a, int b) {
  return (a * b + a + b) % 9;
}

static int count_with_me(int rank) {
  return pair_count(me, rank);
}

static void irregular_alltoall(int in_place, int with_types) {
  Layout layout = make_layout(count_with_me);
  int* in = new_ints(layout.total);
  int* out = in_place ? in : new_ints(layout.total);
  for (int to = 0; to < ranks; to++)
    fill(out + layout.places[to], layout.counts[to], me, to);
  if (with_types) {
    int* byte_places = malloc((size_t)ranks * sizeof(int));
    MPI_Datatype* types = malloc((size_t)ranks * sizeof(MPI_Datatype));
    for (int i = 0; i < ranks; i++) {
      byte_places[i] = layout.places[i] * (int)sizeof(int);
      types[i] = MPI_INT;
    }
    MPI_Alltoallw(in_place ? MPI_IN_PLACE : out, layout.counts, byte_places, types, in,
                  layout.counts, byte_places, types, comm);
    free(byte_places);
    free(types);
  } else {
    MPI_Alltoallv(in_place ? MPI_IN_PLACE : out, layout.counts, layout.places, MPI_INT, in,
                  layout.counts, layout.places, MPI_INT, comm);
  }
  for (int from = 0; from < ranks; from++)
    check_block(in + layout.places[from], layout.counts[from], from, me);
  check_holes(in, &layout);
  if (!in_place) free(out);
  free(in);
  free_layout(&layout);
}

static void try_everything(void) {
  static const int counts[] = {0, 1, 2, 127, 128, 129, 1024, 1025, 5000};
  const int world_size = size_of(MPI_COMM_WORLD);
  const int small_count_max = world_size > 64 ? 3 : world_size > 16 ? 7 : 9;
  me = rank_in(comm);
  ranks = size_of(comm);
  for (int c = 0; c < small_count_max; c++) {
    for (int root = 0; root < ranks; root = next_root(root)) {
      broadcast(root, counts[c]);
      for (int in_place = 0; in_place < 2; in_place++) {
        gather(root, counts[c], in_place);
        scatter(root, counts[c], in_place);
      }
    }
    for (int in_place = 0; in_place < 2; in_place++) {
      allgather(counts[c], in_place);
      alltoall(counts[c], in_place);
    }
  }
  for (int in_place = 0; in_place < 2; in_place++) {
    for (int root = 0; root < ranks; root = next_root(root))
      irregular_gather_and_scatter(root, in_place);
    irregular_allgather(in_place);
    irregular_alltoall(in_place, 0);
    irregular_alltoall(in_place, 1);
  }
  allgather(129, 0);
  if (size_of(MPI_COMM_WORLD) <= 16) {
    broadcast(ranks - 1, 1 << 18);
    gather(ranks / 2, (1 << 18) / ranks, 0);
    allgather((1 << 18) / ranks, 1);
    alltoall((1 << 18) / ranks, ranks < 6);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int world_rank = rank_in(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  try_everything();
  MPI_Comm_free(&comm);
  // Every third rank, in reverse order, and each alone.
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3, -world_rank, &comm);
  try_everything();
  MPI_Comm_free(&comm);
  comm = MPI_COMM_SELF;
  try_everything();
  MPI_Finalize();
  return 0;
}
