// Situations of windows that public trackers report (README.md).
#include "situations.h"

// Open MPI 6275: an atomic read of several numbers into a derived type gave wrong places; the
// origin has no buffer.
static void read_into_a_derived_type(void) {
  int* base;
  MPI_Win win;
  MPI_Datatype every_second;
  MPI_Win_allocate(2 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  base[0] = 10 * rank;
  base[1] = 10 * rank + 1;
  MPI_Type_vector(2, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  MPI_Barrier(MPI_COMM_WORLD);
  const int peer = (rank + 1) % size;
  int got[3] = {-1, -1, -1};
  MUST(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
  MUST(MPI_Get_accumulate(NULL, 0, MPI_INT, got, 1, every_second, peer, 0, 2, MPI_INT, MPI_NO_OP,
                          win));
  MUST(MPI_Win_flush(peer, win));
  CHECK_EQUAL(got[0], 10 * peer);
  CHECK_EQUAL(got[1], -1);
  CHECK_EQUAL(got[2], 10 * peer + 1);
  // armci-mpi 55: the form with a request refused MPI_BYTE beside a buffer of no elements.
  MPI_Request request;
  got[0] = got[2] = -1;
  MUST(MPI_Rget_accumulate(NULL, 0, MPI_BYTE, got, 1, every_second, peer, 0, 2, MPI_INT, MPI_NO_OP,
                           win, &request));
  MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQUAL(got[0], 10 * peer);
  CHECK_EQUAL(got[2], 10 * peer + 1);
  MUST(MPI_Win_unlock_all(win));
  MPI_Type_free(&every_second);
  MPI_Win_free(&win);
}

// Open MPI 4688 and 3571, MPICH 2268: sums of whole arrays, of single cells and atomic reads by all
// ranks at once lost additions.
static void sums_of_arrays_and_of_cells_at_once(void) {
  enum { cells = 300, rounds = 20 };

  long long* base;
  MPI_Win win;
  MPI_Win_allocate(cells * sizeof(long long), sizeof(long long), MPI_INFO_NULL, MPI_COMM_WORLD,
                   &base, &win);
  memset(base, 0, cells * sizeof *base);
  MPI_Barrier(MPI_COMM_WORLD);
  long long ones[cells], before = -1, seen = -1, last = 0;
  for (int i = 0; i < cells; i++)
    ones[i] = 1;
  MUST(MPI_Win_lock_all(0, win));
  for (int round = 0; round < rounds; round++) {
    for (int target = 0; target < size; target++) {
      MUST(MPI_Accumulate(ones, cells, MPI_LONG_LONG, target, 0, cells, MPI_LONG_LONG, MPI_SUM,
                          win));
      MUST(MPI_Fetch_and_op(ones, &before, MPI_LONG_LONG, target, round, MPI_SUM, win));
    }
    MUST(MPI_Win_flush_all(win));
    // What is read never becomes less.
    MUST(MPI_Fetch_and_op(NULL, &seen, MPI_LONG_LONG, 0, cells - 1, MPI_NO_OP, win));
    MUST(MPI_Win_flush(0, win));
    CHECK(seen >= last && seen >= round + 1 && seen <= (long long)rounds * size);
    last = seen;
  }
  MUST(MPI_Win_unlock_all(win));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  for (int i = 0; i < cells; i++)
    CHECK_EQUAL(base[i], (long long)rounds * size + (i < rounds ? size : 0));
  MPI_Win_unlock(rank, win);
  MPI_Win_free(&win);
}

// Open MPI 7203, MPICH 6994: parts of no bytes in a shared window; the first part with bytes is
// that of MPI_PROC_NULL.
static void parts_of_no_bytes_in_shared_memory(void) {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int own = rank_in(node), count = size_of(node);
  // The first rank has no part, unless it is alone.
  const int has_part = own > 0 || count == 1;
  int *base = NULL, *first = NULL;
  MPI_Win win;
  MUST(MPI_Win_allocate_shared(has_part ? 2 * sizeof(int) : 0, sizeof(int), MPI_INFO_NULL, node,
                               &base, &win));
  MPI_Aint bytes = -1;
  int unit = -1;
  MUST(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &first));
  CHECK_EQUAL(bytes, 2 * sizeof(int));
  CHECK_EQUAL(unit, sizeof(int));
  MPI_Win_fence(0, win);
  if (has_part) base[0] = base[1] = 100 + own;
  MPI_Win_fence(0, win);
  // The parts follow each other in the order of ranks, so the first one leads to all.
  for (int i = count == 1 ? 0 : 1; i < count; i++) {
    const int before = count == 1 ? 0 : 2 * (i - 1);
    CHECK_EQUAL(first[before], 100 + i);
    CHECK_EQUAL(first[before + 1], 100 + i);
    int* part = NULL;
    MUST(MPI_Win_shared_query(win, i, &bytes, &unit, &part));
    CHECK(part == first + before);
  }
  MPI_Win_free(&win);
  MPI_Comm_free(&node);
}

// Open MPI 1049: a lock with MPI_MODE_NOCHECK ended in an error or a hang.
static void locks_without_a_check(void) {
  int* base;
  MPI_Win win;
  MPI_Win_allocate((MPI_Aint)sizeof(int) * size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                   &win);
  for (int i = 0; i < size; i++)
    base[i] = -1;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < size; turn++) {
    // The ranks take turns, so no lock is ever held by another rank.
    const int type = turn % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    for (int target = 0; target < size && turn == rank; target++) {
      int back = -1;
      MUST(MPI_Win_lock(type, target, MPI_MODE_NOCHECK, win));
      MUST(MPI_Put(&rank, 1, MPI_INT, target, rank, 1, MPI_INT, win));
      MUST(MPI_Win_unlock(target, win));
      MUST(MPI_Win_lock(type, target, MPI_MODE_NOCHECK, win));
      MUST(MPI_Get(&back, 1, MPI_INT, target, rank, 1, MPI_INT, win));
      MUST(MPI_Win_unlock(target, win));
      CHECK_EQUAL(back, rank);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MUST(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
  for (int i = 0; i < size; i++)
    CHECK_EQUAL(base[i], i);
  MUST(MPI_Win_unlock(rank, win));
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  static const Situation all[] = {
      {"read_into_a_derived_type", read_into_a_derived_type},
      {"sums_of_arrays_and_of_cells_at_once", sums_of_arrays_and_of_cells_at_once},
      {"parts_of_no_bytes_in_shared_memory", parts_of_no_bytes_in_shared_memory},
      {"locks_without_a_check", locks_without_a_check},
  };
  check_situations(all, COUNT_OF(all), argc, argv);
  MPI_Finalize();
  return 0;
}
