#include "cases.h"

/* A window of `count` integers in memory of the library, all 0. */
static MPI_Win make_window(int count, int** memory) {
  MPI_Win win;
  MPI_Win_allocate(count * (int)sizeof(int), sizeof(int), MPI_INFO_NULL, world, memory, &win);
  for (int i = 0; i < count; ++i)
    (*memory)[i] = 0;
  MPI_Barrier(world);
  return win;
}

static void without_epoch(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  if (!wrong) MPI_Win_fence(0, win);
  if (rank_of(world) == 0) MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* planted */
  if (!wrong) MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void without_lock(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  if (rank_of(world) == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, wrong ? 0 : 1, 0, win);
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* planted */
    MPI_Win_unlock(wrong ? 0 : 1, win);
  }
  MPI_Win_free(&win);
}

static void without_unlock(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  if (rank_of(world) == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    if (!wrong) MPI_Win_unlock(1, win);
  }
  MPI_Win_free(&win); /* planted */
}

static void unlock_alone(int wrong) {
  int* memory;
  MPI_Win win = make_window(4, &memory);
  if (!wrong) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Win_unlock(0, win); /* planted */
  MPI_Win_free(&win);
}

static void outside(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  MPI_Win_fence(0, win);
  if (rank_of(world) == 0)
    MPI_Put(&value, 1, MPI_INT, 1, wrong ? 4 : 3, 1, MPI_INT, win); /* planted */
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void two_puts(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  MPI_Win_fence(0, win);
  if (rank_of(world) != 2)
    MPI_Put(&value, 1, MPI_INT, 2, wrong ? 0 : rank_of(world), 1, MPI_INT, win); /* planted */
  MPI_Win_fence(0, win);
  MPI_Put(&value, 1, MPI_INT, (rank_of(world) + 1) % 3, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void put_and_get(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  MPI_Win_fence(0, win);
  if (rank_of(world) == 0) MPI_Put(&value, 1, MPI_INT, 2, 1, 1, MPI_INT, win); /* planted */
  if (!wrong) MPI_Win_fence(0, win);
  if (rank_of(world) == 1) MPI_Get(&value, 1, MPI_INT, 2, 1, 1, MPI_INT, win); /* planted */
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void own_puts(int wrong) {
  int *memory, values[2] = {1, 2};
  MPI_Win win = make_window(4, &memory);
  MPI_Win_fence(0, win);
  if (rank_of(world) == 0) {
    MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Put(&values[1], 1, MPI_INT, 1, wrong ? 0 : 1, 1, MPI_INT, win); /* planted */
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

/* A fence is over for all when one rank returns from it. */
static void lock_after_fence(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  const int me = rank_of(world);
  MPI_Win_fence(0, win);
  if (me == 0 || (wrong && me == 2))
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* planted */
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (me == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_unlock(1, win);
  }
  MPI_Win_free(&win);
}

/* Accumulates with the same operation may meet. */
static void accumulates(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  MPI_Win_fence(0, win);
  MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT,
                 wrong && rank_of(world) == 1 ? MPI_PROD : MPI_SUM, win); /* planted */
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void shared_locks(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  MPI_Win_lock(wrong ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, win);
  MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* planted */
  MPI_Win_unlock(0, win);
  MPI_Win_free(&win);
}

/* Flushes order the operations of one rank, barriers those of several. */
static void lock_all(int wrong) {
  int *memory, values[2] = {1, 2};
  MPI_Win win = make_window(4, &memory);
  MPI_Win_lock_all(0, win);
  if (rank_of(world) == 0) {
    MPI_Put(&values[0], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    if (!wrong) MPI_Win_flush(1, win);
    MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* planted */
    MPI_Win_flush(1, win);
  }
  MPI_Barrier(world);
  if (rank_of(world) == 1) {
    MPI_Put(&values[1], 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Win_flush(1, win);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

static void post_and_start(int wrong) {
  int *memory, value = 1;
  MPI_Group all, origins, targets;
  MPI_Win win = make_window(4, &memory);
  MPI_Comm_group(world, &all);
  MPI_Group_incl(all, 2, (const int[]){0, 1}, &origins);
  MPI_Group_incl(all, 1, (const int[]){2}, &targets);
  if (rank_of(world) == 2) {
    MPI_Win_post(origins, 0, win);
    MPI_Win_wait(win);
  } else {
    MPI_Win_start(targets, 0, win);
    MPI_Put(&value, 1, MPI_INT, 2, wrong ? 0 : rank_of(world), 1, MPI_INT, win); /* planted */
    MPI_Win_complete(win);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
  MPI_Win_free(&win);
}

static void origin_changed(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  MPI_Win_fence(0, win);
  if (rank_of(world) == 0) {
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* planted */
    if (wrong) value = 2;
  }
  MPI_Win_fence(0, win);
  value = 3;
  MPI_Win_free(&win);
}

static void result_changed(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  if (rank_of(world) == 0) {
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* planted */
    if (wrong) value = 2;
    MPI_Win_unlock(1, win);
    value = 3;
  }
  MPI_Win_free(&win);
}

static void store_beside_get(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  MPI_Win_fence(0, win);
  if (rank_of(world) == 0) {
    MPI_Get(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* planted */
  } else {
    memory[wrong ? 0 : 2] = 5;
  }
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static void store_beside_put(int wrong) {
  int *memory, value = 1;
  MPI_Win win = make_window(4, &memory);
  MPI_Win_fence(0, win);
  if (rank_of(world) == 1) {
    MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* planted */
  } else {
    memory[wrong ? 0 : 2] = 5;
  }
  MPI_Win_fence(0, win);
  memory[0] = 7;
  MPI_Win_free(&win);
}

/* A request and the end of the epoch complete an operation, whichever comes first. */
static void request_changed(int wrong) {
  int *memory, value = 1, other = 2;
  MPI_Win win = make_window(4, &memory);
  MPI_Request requests[2];
  MPI_Win_lock_all(0, win);
  if (rank_of(world) == 0) {
    MPI_Rput(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &requests[0]); /* planted */
    MPI_Rput(&other, 1, MPI_INT, 1, 1, 1, MPI_INT, win, &requests[1]);
    if (wrong) value = 5;
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    value = 6;
    MPI_Win_flush(1, win);
    other = 7;
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  }
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

static void request_overlaps(int wrong) {
  int *memory, value = 1, other = 2;
  MPI_Win win = make_window(4, &memory);
  MPI_Request request;
  if (rank_of(world) == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Rget(wrong ? &value : &other, 1, MPI_INT, 1, 1, 1, MPI_INT, win, &request); /* planted */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock(1, win);
  }
  MPI_Win_free(&win);
}

static void compared_changed(int wrong) {
  int *memory, value = 1, expected = 0, result;
  MPI_Win win = make_window(4, &memory);
  if (rank_of(world) == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Compare_and_swap(&value, &expected, &result, MPI_INT, 1, 0, win); /* planted */
    if (wrong) expected = 3;
    MPI_Win_unlock(1, win);
    expected = 4;
  }
  MPI_Win_free(&win);
}

/* An operation that only fetches has no data at the origin. */
static void fetched_changed(int wrong) {
  int *memory, value = 1, result, other;
  MPI_Win win = make_window(4, &memory);
  if (rank_of(world) == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Fetch_and_op(&value, &result, MPI_INT, 1, 0, MPI_SUM, win); /* planted */
    MPI_Fetch_and_op(&value, &other, MPI_INT, 1, 1, MPI_NO_OP, win);
    if (wrong) value = 3;
    MPI_Win_unlock(1, win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Fetch_and_op(&value, &other, MPI_INT, 1, 1, MPI_NO_OP, win);
    value = 4;
    MPI_Win_unlock(1, win);
  }
  MPI_Win_free(&win);
}

/* Accumulates of one origin are ordered, a fence ends the accesses before it, and a get has ended
 * when its request is complete. */
static void get_then_put(int wrong) {
  int *memory, value = 1, fetched;
  MPI_Win win = make_window(4, &memory);
  MPI_Request requests[2];
  MPI_Win_fence(0, win);
  if (rank_of(world) == 0) {
    MPI_Put(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
    MPI_Accumulate(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_SUM, win);
    MPI_Accumulate(&value, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_MAX, win);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  if (rank_of(world) == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Rget(&fetched, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &requests[0]);
    if (!wrong) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Rput(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &requests[1]); /* planted */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock(1, win);
  }
  MPI_Win_free(&win);
}

static const struct check_case cases[] = {
    {"without-epoch", 2, "rma-synchronization", without_epoch},
    {"without-lock", 2, "rma-synchronization", without_lock},
    {"without-unlock", 2, "rma-synchronization", without_unlock},
    {"unlock-alone", 1, "rma-synchronization", unlock_alone},
    {"outside", 2, "rma-range", outside},
    {"two-puts", 3, "rma-conflict", two_puts},
    {"put-and-get", 3, "rma-conflict", put_and_get},
    {"own-puts", 2, "rma-conflict", own_puts},
    {"lock-after-fence", 3, "rma-conflict", lock_after_fence},
    {"accumulates", 3, "rma-conflict", accumulates},
    {"shared-locks", 3, "rma-conflict", shared_locks},
    {"lock-all", 2, "rma-conflict", lock_all},
    {"post-and-start", 3, "rma-conflict", post_and_start},
    {"origin-changed", 2, "buffer-changed", origin_changed},
    {"result-changed", 2, "buffer-changed", result_changed},
    {"get-then-put", 2, "rma-conflict", get_then_put},
    {"request-changed", 2, "buffer-changed", request_changed},
    {"request-overlaps", 2, "buffer-overlap", request_overlaps},
    {"compared-changed", 2, "buffer-changed", compared_changed},
    {"fetched-changed", 2, "buffer-changed", fetched_changed},
    {"store-beside-get", 2, "rma-conflict", store_beside_get},
    {"store-beside-put", 2, "rma-conflict", store_beside_put},
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
