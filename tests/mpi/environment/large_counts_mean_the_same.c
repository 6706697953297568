// The functions that end in _c give the same results as those without: messages, collectives with
// individual counts and displacements, reductions with functions that take an MPI_Count, packing,
// statuses.
#include "../check.h"

static void add(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
  (void)type;
  for (MPI_Count i = 0; i < *count; i++)
    ((int*)inout)[i] += ((int*)in)[i];
}

static void exchange(int me, int size) {
  const int left = (me + size - 1) % size, right = (me + 1) % size;
  int in[3] = {0}, out[3] = {me, me + 1, me + 2};
  MPI_Status status;
  MPI_Count count;
  MPI_Sendrecv_c(out, 3, MPI_INT, right, 0, in, 3, MPI_INT, left, 0, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(in[2], left + 2);
  MPI_Get_count_c(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 3);
  MPI_Request requests[2];
  MPI_Irecv_c(in, 3, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend_c(out, 2, MPI_INT, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], &status);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Get_elements_c(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 2);
}

static void collect(int me, int size) {
  MPI_Count* counts = malloc((size_t)size * sizeof *counts);
  MPI_Aint* places = malloc((size_t)size * sizeof *places);
  int* all = malloc((size_t)size * 2 * sizeof *all);
  int mine[2] = {me, -me};
  // Every second block one element longer, and the blocks from last to first.
  MPI_Aint place = 0;
  for (int i = size - 1; i >= 0; i--) {
    counts[i] = 1 + i % 2;
    places[i] = place;
    place += counts[i];
  }
  MPI_Allgatherv_c(mine, counts[me], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
  for (int i = 0; i < size; i++) {
    CHECK_EQUAL(all[places[i]], i);
    if (i % 2) CHECK_EQUAL(all[places[i] + 1], -i);
  }
  MPI_Scatterv_c(all, counts, places, MPI_INT, mine, counts[me], MPI_INT, 0, MPI_COMM_WORLD);
  CHECK_EQUAL(mine[0], me);
  int* sums = calloc((size_t)size * 2, sizeof *sums);
  for (int i = 0; i < 2 * size; i++)
    all[i] = i;
  MPI_Reduce_scatter_c(all, sums, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int first = 0;
  for (int i = 0; i < me; i++)
    first += (int)counts[i];
  CHECK_EQUAL(sums[0], first * size);
  free(sums);
  free(all);
  free(places);
  free(counts);
}

static void reduce(int me, int size) {
  MPI_Op op;
  int sum = 0, twice = me;
  MPI_Op_create_c(add, 1, &op);
  MPI_Allreduce_c(&me, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
  CHECK_EQUAL(sum, size * (size - 1) / 2);
  MPI_Reduce_local_c(&me, &twice, 1, MPI_INT, op);
  CHECK_EQUAL(twice, 2 * me);
  MPI_Op_free(&op);
}

static void pack(void) {
  char room[64];
  int in[4] = {1, 2, 3, 4}, out[4] = {0};
  MPI_Count size, position = 0;
  MPI_Pack_size_c(4, MPI_INT, MPI_COMM_WORLD, &size);
  CHECK_EQUAL(size, 16);
  // More than an int can count, which MPI_Pack_size cannot return.
  MPI_Pack_size_c((MPI_Count)1 << 40, MPI_INT, MPI_COMM_WORLD, &size);
  CHECK_EQUAL(size, (MPI_Count)1 << 42);
  MPI_Pack_c(in, 4, MPI_INT, room, 64, &position, MPI_COMM_WORLD);
  CHECK_EQUAL(position, 16);
  position = 4;
  MPI_Unpack_c(room, 64, &position, out, 3, MPI_INT, MPI_COMM_WORLD);
  CHECK_EQUAL(out[2], 4);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  exchange(me, size);
  collect(me, size);
  reduce(me, size);
  pack();
  MPI_Status status;
  MPI_Count elements;
  MPI_Status_set_elements_c(&status, MPI_BYTE, (MPI_Count)5 << 32);
  MPI_Get_elements_c(&status, MPI_BYTE, &elements);
  CHECK_EQUAL(elements, (MPI_Count)5 << 32);
  MPI_Finalize();
  return 0;
}
