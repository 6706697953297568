// Post, start, complete, wait and test, among neighbours in a ring; with operations of every kind,
// and epochs that follow each other without any other synchronization.
#include "../check.h"

enum { rounds = 25 };

static MPI_Group group_of(int first, int second) {
  MPI_Group world, group;
  const int ranks[2] = {first, second};
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, first == second ? 1 : 2, ranks, &group);
  MPI_Group_free(&world);
  return group;
}

static void halo(void) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Group neighbours = group_of(left, right);
  int halo_cells[2], got[2];
  MPI_Win win;
  MPI_Win_create(halo_cells, sizeof halo_cells, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int round = 0; round < rounds; round++) {
    const int value = 100 * round + rank;
    halo_cells[0] = halo_cells[1] = -1;
    MPI_Win_post(neighbours, 0, win);
    MPI_Win_start(neighbours, 0, win);
    MPI_Put(&value, 1, MPI_INT, left, 1, 1, MPI_INT, win);
    MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
    if (round % 2 == 0) {
      MPI_Win_wait(win);
    } else {
      int flag = 0;
      while (!flag)
        MPI_Win_test(win, &flag);
    }
    CHECK_EQUAL(halo_cells[0], 100 * round + left);
    CHECK_EQUAL(halo_cells[1], 100 * round + right);
    // Read the neighbours' cells: they hold this rank's value.
    MPI_Win_post(neighbours, MPI_MODE_NOSTORE | MPI_MODE_NOPUT, win);
    MPI_Win_start(neighbours, 0, win);
    MPI_Get(&got[0], 1, MPI_INT, left, 1, 1, MPI_INT, win);
    MPI_Get(&got[1], 1, MPI_INT, right, 0, 1, MPI_INT, win);
    MPI_Win_complete(win);
    CHECK_EQUAL(got[0], value);
    CHECK_EQUAL(got[1], value);
    MPI_Win_wait(win);
  }
  MPI_Win_free(&win);
  MPI_Group_free(&neighbours);
}

/// One target, all others origins; the origins come late, or the target does.
static void many_to_one(void) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  if (size == 1) return;
  long sum = 0;
  MPI_Group world, zero, others;
  const int root = 0;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &root, &zero);
  MPI_Group_excl(world, 1, &root, &others);
  MPI_Win win;
  MPI_Win_create(&sum, rank == 0 ? sizeof sum : 0, sizeof sum, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int round = 0; round < 5; round++) {
    if (rank == 0) {
      MPI_Win_post(others, 0, win);
      MPI_Win_wait(win);
      CHECK_EQUAL(sum, (long)(round + 1) * size * (size - 1) / 2);
    } else {
      const long value = rank;
      MPI_Win_start(zero, 0, win);
      MPI_Accumulate(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
      MPI_Win_complete(win);
    }
  }
  MPI_Win_free(&win);
  MPI_Group_free(&zero);
  MPI_Group_free(&others);
  MPI_Group_free(&world);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  halo();
  many_to_one();
  MPI_Finalize();
  return 0;
}
