// Random puts, gets and accumulates with derived datatypes on both sides give what a local model of
// every window gives. In a round, each rank changes a strip of each window that no other rank
// touches, so the outcome is determined; all ranks draw the same numbers.
#include "../check.h"

enum { strip = 96, types = 5 };

/// The i-th int of a datatype's data, in the order of the packed stream; every type has 12 ints in
/// an extent of 24.
static MPI_Datatype make_type(int kind) {
  MPI_Datatype type, resized, inner;
  int lengths[4] = {3, 1, 6, 2}, displacements[4] = {20, 0, 3, 12};
  switch (kind) {
    case 0:
      MPI_Type_contiguous(12, MPI_INT, &type);
      break;
    case 1:
      MPI_Type_vector(6, 2, 4, MPI_INT, &type);
      break;
    case 2:
      MPI_Type_indexed(4, lengths, displacements, MPI_INT, &type);
      break;
    case 3: {
      MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
      int places[6] = {6, 0, 2, 4, 1, 7};
      MPI_Type_create_indexed_block(6, 1, places, inner, &type);
      MPI_Type_free(&inner);
      break;
    }
    default: {
      int sizes[2] = {6, 4}, subsizes[2] = {4, 3}, starts[2] = {1, 1};
      MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &type);
    }
  }
  MPI_Type_create_resized(type, 0, 24 * (MPI_Aint)sizeof(int), &resized);
  MPI_Type_free(&type);
  MPI_Type_commit(&resized);
  return resized;
}

/// Where the elements of a type lie, found by MPI_Pack, which is tested elsewhere.
static void find_places(MPI_Datatype type, int* places) {
  int numbers[24], position = 0;
  for (int i = 0; i < 24; i++)
    numbers[i] = i;
  MPI_Pack(numbers, 1, type, places, 12 * (int)sizeof(int), &position, MPI_COMM_SELF);
  CHECK_EQUAL(position, 12 * (int)sizeof(int));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  if (size > 64) {
    MPI_Finalize();
    return 0;
  }
  uint64_t random = random_seed(18);
  const size_t cells = (size_t)size * strip;
  MPI_Datatype type[types];
  int places[types][12];
  for (int i = 0; i < types; i++) {
    type[i] = make_type(i);
    find_places(type[i], places[i]);
  }
  int* window = malloc(cells * sizeof(int));
  int* model = calloc(cells * (size_t)size, sizeof(int));
  MPI_Win win;
  // Memory of the program: other processes reach it by messages.
  MPI_Win_create(window, (MPI_Aint)(cells * sizeof(int)), sizeof(int), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &win);
  memset(window, 0, cells * sizeof(int));
  const int rounds = size > 16 ? 20 : 60;
  for (int round = 0; round < rounds; round++) {
    MPI_Win_fence(0, win);
    int out[strip], in[strip], expected[strip], got_type = -1, got_count = 0;
    for (int origin = 0; origin < size; origin++) {
      const int target = random_below(&random, size), kind = random_below(&random, 5);
      const int from = random_below(&random, types), to = random_below(&random, types);
      const int count = 1 + random_below(&random, 4);
      const int seed = random_below(&random, 1 << 20);
      int* there = model + (size_t)target * cells + (size_t)origin * strip;
      int buffer[strip];
      for (int i = 0; i < strip; i++)
        buffer[i] = seed + 7 * i;
      if (origin == rank) {
        memcpy(out, buffer, sizeof out);
        for (int i = 0; i < strip; i++)
          in[i] = expected[i] = -1 - i;
      }
      for (int e = 0; e < 12 * count; e++) {
        int* cell = &there[24 * (e / 12) + places[to][e % 12]];
        const int at = 24 * (e / 12) + places[from][e % 12];
        if (origin == rank && (kind == 1 || kind >= 3)) expected[at] = *cell;
        if (kind == 0) *cell = buffer[at];
        if (kind == 2 || kind == 3) *cell += buffer[at];
        if (kind == 4) *cell = *cell > buffer[at] ? *cell : buffer[at];
      }
      if (origin != rank) continue;
      got_type = kind;
      got_count = count;
      const MPI_Aint where = (MPI_Aint)origin * strip;
      const MPI_Datatype t = type[to], f = type[from];
      switch (kind) {
        case 0:
          MPI_Put(out, count, f, target, where, count, t, win);
          break;
        case 1:
          MPI_Get(in, count, f, target, where, count, t, win);
          break;
        case 2:
          MPI_Accumulate(out, count, f, target, where, count, t, MPI_SUM, win);
          break;
        default:
          MPI_Get_accumulate(out, count, f, in, count, f, target, where, count, t,
                             kind == 3 ? MPI_SUM : MPI_MAX, win);
      }
    }
    MPI_Win_fence(0, win);
    if (got_type == 1 || got_type >= 3) {
      for (int i = 0; i < 24 * got_count; i++)
        CHECK_EQUAL(in[i], expected[i]);
    }
    for (size_t i = 0; i < cells; i++)
      CHECK_EQUAL(window[i], model[(size_t)rank * cells + i]);
  }
  MPI_Win_free(&win);
  for (int i = 0; i < types; i++)
    MPI_Type_free(&type[i]);
  free(window);
  free(model);
  MPI_Finalize();
  return 0;
}
