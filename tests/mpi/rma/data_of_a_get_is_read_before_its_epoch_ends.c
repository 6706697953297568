// The data of a get is what the window held in the epoch: the target changes it as soon as the
// epoch has ended there, while long data may still be on its way.
#include "../check.h"

enum { cells = 150000, rounds = 8 };

static void by_post_and_start(MPI_Win win, int* window, int* got) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  MPI_Group world, reader, target;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &left, &reader);
  MPI_Group_incl(world, 1, &right, &target);
  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < cells; i++)
      window[i] = round;
    MPI_Win_post(reader, 0, win);
    MPI_Win_start(target, 0, win);
    MPI_Get(got, cells, MPI_INT, right, 0, cells, MPI_INT, win);
    MPI_Win_complete(win);
    for (int i = 0; i < cells; i++)
      CHECK_EQUAL(got[i], round);
    MPI_Win_wait(win);
  }
  MPI_Group_free(&world);
  MPI_Group_free(&reader);
  MPI_Group_free(&target);
}

/// Readers and a writer under locks: a reader sees one value in all cells.
static void by_locks(MPI_Win win, int* window, int* got) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  for (int round = 0; round < rounds; round++) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < cells; i++)
      window[i] = 100 + round;
    MPI_Win_unlock(rank, win);
    MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win);
    MPI_Get(got, cells, MPI_INT, (rank + 1) % size, 0, cells, MPI_INT, win);
    MPI_Win_unlock((rank + 1) % size, win);
    for (int i = 1; i < cells; i++)
      CHECK_EQUAL(got[i], got[0]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (size_of(MPI_COMM_WORLD) <= 16) {
    int* window = malloc(cells * sizeof(int));
    int* got = malloc(cells * sizeof(int));
    MPI_Win win;
    MPI_Win_create(window, cells * (MPI_Aint)sizeof(int), sizeof(int), MPI_INFO_NULL,
                   MPI_COMM_WORLD, &win);
    by_post_and_start(win, window, got);
    MPI_Barrier(MPI_COMM_WORLD);
    by_locks(win, window, got);
    MPI_Win_free(&win);
    free(window);
    free(got);
  }
  MPI_Finalize();
  return 0;
}
