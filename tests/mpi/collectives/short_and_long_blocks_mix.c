// Alltoall, alltoallv, alltoallw and allgatherv of blocks of which some are short and some long, in
// one call and from call to call, without a pause between calls; in place, too. Allreduce of
// vectors of all lengths about those at which algorithms change. What the ranks send is different
// in each call.
#include "../check.h"

enum { guard = -77, longest = 400 };

static int me, ranks, call;
static MPI_Comm comm;

static int value_of(int from, int to, int i) {
  return (int)((unsigned)call * 40503u + (unsigned)from * 1000003u + (unsigned)to * 1009u +
               (unsigned)i);
}

// How many elements `from` sends to `to` in this call: none, few, about as many as fit, many.
static int count_of(int from, int to) {
  uint64_t state = (uint64_t)call * 7919 + (uint64_t)from * 131 + (uint64_t)to;
  const uint64_t random = random_next(&state);
  switch ((random >> 8) % (call % 2 == 0 ? 3 : 5)) {
    case 0:
      return 0;
    case 1:
    case 2:
      return (int)(random % 5);
    case 3:
      return (int)(random % 170);
    default:
      return (int)(random % longest);
  }
}

static int* new_ints(size_t count) {
  int* values = malloc((count + 1) * sizeof *values);
  for (size_t i = 0; i <= count; i++)
    values[i] = guard;
  return values;
}

static void check_block(const int* block, int count, int from, int to) {
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(block[i], value_of(from, to, i));
  CHECK_EQUAL(block[count], guard);
}

// Every block is followed by an element that must stay as it is.
struct blocks {
  int *counts, *places, *values;
};

static struct blocks new_blocks(int is_sent, int scale) {
  struct blocks b = {.counts = malloc((size_t)ranks * sizeof(int)),
                     .places = malloc((size_t)ranks * sizeof(int))};
  int end = 0;
  for (int other = 0; other < ranks; other++) {
    b.counts[other] = is_sent ? count_of(me, other) : count_of(other, me);
    b.places[other] = end * scale;
    end += b.counts[other] + 1;
  }
  b.values = new_ints((size_t)end);
  for (int other = 0; other < ranks && is_sent; other++) {
    for (int i = 0; i < b.counts[other]; i++)
      b.values[b.places[other] / scale + i] = value_of(me, other, i);
  }
  return b;
}

static void check_and_free(struct blocks sent, struct blocks received, int scale) {
  for (int from = 0; from < ranks; from++)
    check_block(received.values + received.places[from] / scale, received.counts[from], from, me);
  free(sent.counts), free(sent.places), free(sent.values);
  free(received.counts), free(received.places), free(received.values);
}

static void exchange_v(void) {
  struct blocks out = new_blocks(1, 1), in = new_blocks(0, 1);
  MPI_Alltoallv(out.values, out.counts, out.places, MPI_INT, in.values, in.counts, in.places,
                MPI_INT, comm);
  check_and_free(out, in, 1);
}

static void exchange_w(void) {
  const int scale = (int)sizeof(int);
  struct blocks out = new_blocks(1, scale), in = new_blocks(0, scale);
  MPI_Datatype* types = malloc((size_t)ranks * sizeof *types);
  for (int i = 0; i < ranks; i++)
    types[i] = MPI_INT;
  MPI_Request request;
  if (call % 4 < 2) {
    MPI_Alltoallw(out.values, out.counts, out.places, types, in.values, in.counts, in.places, types,
                  comm);
  } else {
    MPI_Ialltoallw(out.values, out.counts, out.places, types, in.values, in.counts, in.places,
                   types, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  free(types);
  check_and_free(out, in, scale);
}

// As many elements go both ways, so blocks can be replaced.
static void exchange_in_place(void) {
  int* counts = malloc((size_t)ranks * sizeof(int));
  int* places = malloc((size_t)ranks * sizeof(int));
  int end = 0;
  for (int other = 0; other < ranks; other++) {
    counts[other] = me < other ? count_of(me, other) : count_of(other, me);
    places[other] = end;
    end += counts[other] + 1;
  }
  int* values = new_ints((size_t)end);
  for (int to = 0; to < ranks; to++) {
    for (int i = 0; i < counts[to]; i++)
      values[places[to] + i] = value_of(me, to, i);
  }
  MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, values, counts, places, MPI_INT, comm);
  for (int from = 0; from < ranks; from++)
    check_block(values + places[from], counts[from], from, me);
  free(counts), free(places), free(values);
}

// Every second element of a strided vector goes out; what comes in is contiguous.
static void exchange_uniform(int is_in_place) {
  const int count = count_of(ranks, call) % 90;
  const size_t total = (size_t)count * (size_t)ranks;
  int* in = new_ints(total);
  int* out = new_ints(2 * total);
  for (int to = 0; to < ranks; to++) {
    for (int i = 0; i < count; i++) {
      out[2 * (to * count + i)] = value_of(me, to, i);
      if (is_in_place) in[to * count + i] = value_of(me, to, i);
    }
  }
  MPI_Datatype every_second;
  MPI_Type_create_resized(MPI_INT, 0, 2 * (MPI_Aint)sizeof(int), &every_second);
  MPI_Type_commit(&every_second);
  MPI_Alltoall(is_in_place ? MPI_IN_PLACE : out, count, every_second, in, count, MPI_INT, comm);
  for (int from = 0; from < ranks; from++) {
    for (int i = 0; i < count; i++)
      CHECK_EQUAL(in[from * count + i], value_of(from, me, i));
  }
  CHECK_EQUAL(in[total], guard);
  MPI_Type_free(&every_second);
  free(in), free(out);
}

static void gather_v(int is_in_place) {
  struct blocks in = new_blocks(0, 1);
  int end = 0;
  for (int from = 0; from < ranks; from++) {
    in.counts[from] = count_of(from, ranks);
    in.places[from] = end;
    end += in.counts[from] + 1;
  }
  free(in.values);
  in.values = new_ints((size_t)end);
  const int count = in.counts[me];
  int* own = new_ints((size_t)count);
  int* block = is_in_place ? in.values + in.places[me] : own;
  for (int i = 0; i < count; i++)
    block[i] = value_of(me, ranks, i);
  MPI_Allgatherv(is_in_place ? MPI_IN_PLACE : own, count, MPI_INT, in.values, in.counts, in.places,
                 MPI_INT, comm);
  for (int from = 0; from < ranks; from++)
    check_block(in.values + in.places[from], in.counts[from], from, ranks);
  free(own), free(in.counts), free(in.places), free(in.values);
}

static void sum(int is_in_place) {
  const int count = 1 + count_of(ranks, ranks) % 180;
  int* in = new_ints((size_t)count);
  int* out = new_ints((size_t)count);
  for (int i = 0; i < count; i++)
    in[i] = out[i] = (me + 1) * (i + 1) + call;
  MPI_Allreduce(is_in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, comm);
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(out[i], ranks * (ranks + 1) / 2 * (i + 1) + ranks * call);
  CHECK_EQUAL(out[count], guard);
  free(in), free(out);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  me = rank_in(comm);
  ranks = size_of(comm);
  const int calls = ranks <= 16 ? 60 : ranks <= 64 ? 12 : 3;
  for (call = 0; call < calls; call++) {
    exchange_v();
    exchange_w();
    exchange_in_place();
    exchange_uniform(call % 3 == 0);
    gather_v(call % 3 == 1);
    sum(call % 3 == 2);
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
