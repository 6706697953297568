// Reduce, allreduce, reduce_scatter, reduce_scatter_block, scan and exscan give the sum over the
// right ranks: for every root, in place and not, from no elements to a mebibyte, on the world, on
// subsets and on one rank.
#include "../check.h"

static int me, ranks;
static MPI_Comm comm;

enum { guard = -77 };

static int64_t term(int rank, int i) {
  return (int64_t)rank * 1000 + i * 7 + rank * i;
}

/// The sum over ranks 0..last of term(rank, i).
static int64_t sum_to(int last, int i) {
  const int64_t rank_sum = (int64_t)last * (last + 1) / 2;
  return rank_sum * 1000 + (int64_t)(last + 1) * i * 7 + rank_sum * i;
}

static int64_t *out, *in;
static size_t room;

static void prepare(size_t total) {
  if (total + 1 > room) {
    room = total + 1;
    out = realloc(out, room * sizeof *out);
    in = realloc(in, room * sizeof *in);
  }
  for (size_t i = 0; i < total; i++) {
    out[i] = term(me, (int)i);
    in[i] = guard;
  }
  in[total] = guard;
}

static void check_sums(const int64_t* values, int count, int last, int first_index) {
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(values[i], sum_to(last, first_index + i));
  CHECK_EQUAL(values[count], guard);
}

static const void* operand(int in_place, int count) {
  if (!in_place) return out;
  memcpy(in, out, (size_t)count * sizeof *in);
  return MPI_IN_PLACE;
}

static void reduce(int root, int count, int in_place) {
  prepare((size_t)count);
  if (me == root) {
    MPI_Reduce(operand(in_place, count), in, count, MPI_INT64_T, MPI_SUM, root, comm);
    check_sums(in, count, ranks - 1, 0);
  } else {
    MPI_Reduce(out, NULL, count, MPI_INT64_T, MPI_SUM, root, comm);
  }
}

static void allreduce(int count, int in_place) {
  prepare((size_t)count);
  MPI_Allreduce(operand(in_place, count), in, count, MPI_INT64_T, MPI_SUM, comm);
  check_sums(in, count, ranks - 1, 0);
}

/// Calls of the same arguments, and of others in between.
static void repeated_allreduce(void) {
  for (int count = 1; count <= 5; count++) {
    allreduce(count, 0);
    allreduce(count, 0);
    allreduce(count, 1);
    allreduce(5 - count, 0);
    allreduce(count, 0);
  }
}

static void scan(int count, int in_place) {
  prepare((size_t)count);
  MPI_Scan(operand(in_place, count), in, count, MPI_INT64_T, MPI_SUM, comm);
  check_sums(in, count, me, 0);
  prepare((size_t)count);
  MPI_Exscan(operand(in_place, count), in, count, MPI_INT64_T, MPI_SUM, comm);
  if (me > 0) check_sums(in, count, me - 1, 0);
}

static void reduce_scatter_block(int count, int in_place) {
  const int total = count * ranks;
  prepare((size_t)total);
  MPI_Reduce_scatter_block(operand(in_place, total), in, count, MPI_INT64_T, MPI_SUM, comm);
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(in[i], sum_to(ranks - 1, me * count + i));
  CHECK_EQUAL(in[total], guard);
}

static void reduce_scatter(int scale, int in_place) {
  int* counts = malloc((size_t)ranks * sizeof *counts);
  int total = 0, first = 0;
  for (int rank = 0; rank < ranks; rank++) {
    counts[rank] = rank % 3 == 1 ? 0 : scale * (rank % 4 + 1);
    if (rank < me) first += counts[rank];
    total += counts[rank];
  }
  prepare((size_t)total);
  MPI_Reduce_scatter(operand(in_place, total), in, counts, MPI_INT64_T, MPI_SUM, comm);
  for (int i = 0; i < counts[me]; i++)
    CHECK_EQUAL(in[i], sum_to(ranks - 1, first + i));
  CHECK_EQUAL(in[total], guard);
  free(counts);
}

static void try_everything(int is_thorough) {
  static const int counts[] = {0, 1, 3, 4, 5, 100, 511, 512, 513, 1300, 5000};
  const int kinds = is_thorough ? 11 : 7;
  me = rank_in(comm);
  ranks = size_of(comm);
  for (int in_place = 0; in_place < 2; in_place++) {
    for (int c = 0; c < kinds; c++) {
      for (int root = 0; root < ranks; root += ranks > 16 && root < ranks - 1 ? ranks - 1 : 1)
        reduce(root, counts[c], in_place);
      allreduce(counts[c], in_place);
      scan(counts[c], in_place);
      if (counts[c] < 1000) reduce_scatter_block(counts[c] % 100, in_place);
    }
    reduce_scatter(1, in_place);
    reduce_scatter(9, in_place);
  }
  repeated_allreduce();
  if (is_thorough) {
    for (int in_place = 0; in_place < 2; in_place++) {
      reduce(ranks - 1, 1 << 17, in_place);
      allreduce(1 << 17, in_place);
      scan(1 << 17, in_place);
      reduce_scatter_block((1 << 17) / ranks, in_place);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int world_rank = rank_in(MPI_COMM_WORLD);
  const int is_thorough = size_of(MPI_COMM_WORLD) <= 16;
  comm = MPI_COMM_WORLD;
  try_everything(is_thorough);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comm);
  try_everything(is_thorough);
  MPI_Comm_free(&comm);
  comm = MPI_COMM_SELF;
  try_everything(is_thorough);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
