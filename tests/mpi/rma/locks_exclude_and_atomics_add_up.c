// Passive targets: exclusive locks exclude, shared locks do not; accumulates, fetch_and_op and
// compare_and_swap of all ranks on the same elements lose nothing; flush completes; a rank that
// polls lets the others run.
#include "../check.h"

enum { rounds = 30 };

static void exclusive_counter(void) {
  const int size = size_of(MPI_COMM_WORLD);
  long* counter;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &win);
  counter[0] = counter[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < rounds; i++) {
    long value[2];
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(value, 2, MPI_LONG, 0, 0, 2, MPI_LONG, win);
    MPI_Win_flush(0, win);
    CHECK_EQUAL(value[0], value[1]);
    value[0]++;
    value[1]++;
    MPI_Put(&value[0], 1, MPI_LONG, 0, 0, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    MPI_Put(&value[1], 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  long value;
  MPI_Get(&value, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
  MPI_Win_unlock(0, win);
  CHECK_EQUAL(value, (long)rounds * size);
  MPI_Win_free(&win);
}

static void fetch_and_add(void) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memory[0] = memory[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const int one = 1, target = size - 1;
  int last = -1;
  MPI_Win_lock_all(0, win);
  for (int i = 0; i < rounds; i++) {
    int old = -1;
    MPI_Fetch_and_op(&one, &old, MPI_INT, target, 0, MPI_SUM, win);
    MPI_Win_flush(target, win);
    CHECK(old > last);
    last = old;
    MPI_Accumulate(&one, 1, MPI_INT, target, 1, 1, MPI_INT, MPI_SUM, win);
  }
  MPI_Win_flush_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  int result[2];
  MPI_Get_accumulate(NULL, 0, MPI_INT, result, 2, MPI_INT, target, 0, 2, MPI_INT, MPI_NO_OP, win);
  MPI_Win_flush_local_all(win);
  CHECK_EQUAL(result[0], rounds * size);
  CHECK_EQUAL(result[1], rounds * size);
  MPI_Win_unlock_all(win);
  (void)rank;
  MPI_Win_free(&win);
}

/// A lock of compare_and_swap that ranks spin on: progress of one rank needs that the others yield.
static void spin_lock(void) {
  const int size = size_of(MPI_COMM_WORLD);
  long* memory;
  MPI_Win win;
  MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memory[0] = memory[1] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const long free_value = 0, taken = 1;
  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  const int spins = size > 100 ? 1 : 5;
  for (int i = 0; i < spins; i++) {
    long old;
    do {
      MPI_Compare_and_swap(&taken, &free_value, &old, MPI_LONG, 0, 0, win);
      MPI_Win_flush(0, win);
    } while (old != free_value);
    long count;
    MPI_Get(&count, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    count++;
    MPI_Put(&count, 1, MPI_LONG, 0, 1, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    MPI_Fetch_and_op(&free_value, &old, MPI_LONG, 0, 0, MPI_REPLACE, win);
    MPI_Win_flush(0, win);
    CHECK_EQUAL(old, taken);
  }
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0) CHECK_EQUAL(memory[1], (long)spins * size);
  MPI_Win_free(&win);
}

/// Shared locks are held together: every rank sees all others while it holds its own.
static void shared_locks(void) {
  const int size = size_of(MPI_COMM_WORLD);
  int* memory;
  MPI_Win win;
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  *memory = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const int one = 1;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Win_flush(0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  int all = -1;
  MPI_Get(&all, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  MPI_Win_unlock(0, win);
  CHECK_EQUAL(all, size);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  exclusive_counter();
  fetch_and_add();
  spin_lock();
  shared_locks();
  MPI_Finalize();
  return 0;
}
