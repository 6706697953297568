// The request forms of the operations, complete by wait or test, and the large-count forms.
#include "../check.h"

static void requests(void) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const int target = (rank + 1) % size;
  long* memory;
  MPI_Win win;
  MPI_Request request[4];
  MPI_Status status;
  MPI_Win_allocate(8 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  for (int i = 0; i < 8; i++)
    memory[i] = 10 * rank + i;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, win);
  long value = 1000 + rank, got[2] = {-1, -1}, old = -1, one = 1;
  MPI_Rget(got, 2, MPI_LONG, target, 4, 2, MPI_LONG, win, &request[0]);
  MPI_Rput(&value, 1, MPI_LONG, target, 0, 1, MPI_LONG, win, &request[1]);
  MPI_Raccumulate(&one, 1, MPI_LONG, target, 1, 1, MPI_LONG, MPI_SUM, win, &request[2]);
  MPI_Rget_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, target, 2, 1, MPI_LONG, MPI_PROD, win,
                      &request[3]);
  MPI_Wait(&request[0], &status);
  CHECK(request[0] == MPI_REQUEST_NULL);
  CHECK_EQUAL(got[0], 10 * target + 4);
  CHECK_EQUAL(got[1], 10 * target + 5);
  int flag = 0;
  while (!flag)
    MPI_Testall(3, request + 1, &flag, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(old, 10 * target + 2);
  // A target that does not exist.
  MPI_Rput(&value, 1, MPI_LONG, MPI_PROC_NULL, 0, 1, MPI_LONG, win, &request[0]);
  MPI_Wait(&request[0], MPI_STATUS_IGNORE);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  const int source = (rank + size - 1) % size;
  CHECK_EQUAL(memory[0], 1000 + source);
  CHECK_EQUAL(memory[1], 10 * rank + 2);
  CHECK_EQUAL(memory[2], 10 * rank + 2);
  MPI_Win_free(&win);
}

static void large_counts(void) {
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const int target = (rank + 1) % size;
  const MPI_Count two = 2;
  int* memory;
  MPI_Win win;
  MPI_Aint unit;
  MPI_Aint bytes;
  int* base;
  MPI_Win_allocate_c(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  memory[0] = memory[1] = memory[2] = memory[3] = 5;
  const int values[2] = {rank, rank + 1};
  int got[2];
  MPI_Win_shared_query_c(win, rank, &bytes, &unit, &base);
  CHECK_EQUAL(unit, sizeof(int));
  CHECK(base == memory);
  MPI_Win_fence(0, win);
  MPI_Put_c(values, two, MPI_INT, target, 0, two, MPI_INT, win);
  MPI_Accumulate_c(values, two, MPI_INT, target, 2, two, MPI_INT, MPI_SUM, win);
  MPI_Win_fence(0, win);
  MPI_Get_c(got, two, MPI_INT, target, 0, two, MPI_INT, win);
  MPI_Win_fence(0, win);
  CHECK_EQUAL(got[1], rank + 1);
  const int source = (rank + size - 1) % size;
  CHECK_EQUAL(memory[0], source);
  CHECK_EQUAL(memory[3], 5 + source + 1);
  MPI_Win_free(&win);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  requests();
  large_counts();
  MPI_Finalize();
  return 0;
}
