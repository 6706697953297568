// Dynamic windows: operations reach attached memory by its address, and no other memory.
#include "../check.h"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  const int target = (rank + 1) % size;
  long first[4] = {0}, second[4] = {0}, hidden = 0;
  MPI_Aint own[3], *all = malloc(sizeof(MPI_Aint) * 3 * (size_t)size);
  MPI_Win win;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  CHECK_EQUAL(MPI_Win_attach(win, first, sizeof first), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_attach(win, second, sizeof second), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_attach(win, &first[1], sizeof(long)), MPI_ERR_RMA_ATTACH);
  MPI_Get_address(first, &own[0]);
  MPI_Get_address(second, &own[1]);
  MPI_Get_address(&hidden, &own[2]);
  MPI_Allgather(own, 3, MPI_AINT, all, 3, MPI_AINT, MPI_COMM_WORLD);
  const long value = 100 + rank;
  MPI_Win_lock_all(0, win);
  MPI_Put(&value, 1, MPI_LONG, target, all[3 * target] + (MPI_Aint)sizeof(long), 1, MPI_LONG, win);
  MPI_Accumulate(&value, 1, MPI_LONG, target, all[3 * target + 1], 1, MPI_LONG, MPI_SUM, win);
  CHECK_EQUAL(MPI_Win_flush(target, win), MPI_SUCCESS);
  // The error comes from the call, or from the next synchronization if another process finds it.
  int error = MPI_Put(&value, 1, MPI_LONG, target, all[3 * target + 2], 1, MPI_LONG, win);
  if (error == MPI_SUCCESS) error = MPI_Win_flush(target, win);
  CHECK_EQUAL(error, MPI_ERR_RMA_RANGE);
  long got = -1;
  error = MPI_Get(&got, 1, MPI_LONG, target, all[3 * target + 2], 1, MPI_LONG, win);
  if (error == MPI_SUCCESS) error = MPI_Win_flush(target, win);
  CHECK_EQUAL(error, MPI_ERR_RMA_RANGE);
  CHECK_EQUAL(MPI_Win_flush(target, win), MPI_SUCCESS);
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  const int source = (rank + size - 1) % size;
  CHECK_EQUAL(first[1], 100 + source);
  CHECK_EQUAL(second[0], 100 + source);
  CHECK_EQUAL(hidden, 0);
  CHECK_EQUAL(MPI_Win_detach(win, first), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Win_detach(win, first), MPI_ERR_RMA_ATTACH);
  CHECK_EQUAL(MPI_Win_attach(win, first, sizeof first), MPI_SUCCESS);
  MPI_Win_free(&win);
  free(all);
  MPI_Finalize();
  return 0;
}
