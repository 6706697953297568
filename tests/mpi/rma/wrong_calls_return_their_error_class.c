// Erroneous calls on windows raise the class that the standard names, through the window's error
// handler, and leave the window usable.
#include "../check.h"

static int handled_count, handled_class;
static MPI_Win handled_win;

static void note_error(MPI_Win* win, int* code, ...) {
  handled_win = *win;
  MPI_Error_class(*code, &handled_class);
  handled_count++;
}

#define FAILS(call, error_class)                  \
  do {                                            \
    const int count_before = handled_count;       \
    const int error = (call);                     \
    int class_of_error;                           \
    MPI_Error_class(error, &class_of_error);      \
    CHECK_EQUAL(class_of_error, error_class);     \
    CHECK_EQUAL(handled_count, count_before + 1); \
    CHECK_EQUAL(handled_class, error_class);      \
    CHECK(handled_win == win);                    \
  } while (0)

static void user_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)in;
  (void)inout;
  (void)count;
  (void)type;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), size = size_of(MPI_COMM_WORLD);
  int memory[4] = {0}, value = 1, other = 0, result;
  MPI_Win win;
  MPI_Errhandler handler, got;
  MPI_Request request;
  MPI_Group self, world;
  MPI_Op op;
  MPI_Datatype mixed, uncommitted;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &rank, &self);
  MPI_Op_create(user_op, 1, &op);
  {
    const int lengths[2] = {1, 1};
    const MPI_Aint displacements[2] = {0, 8};
    const MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Type_create_struct(2, lengths, displacements, kinds, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
  }

  // Creation: errors of the communicator.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_EQUAL(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
  CHECK_EQUAL(MPI_Win_create(memory, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
  CHECK_EQUAL(MPI_Win_create(NULL, 4, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_BASE);
  CHECK_EQUAL(MPI_Win_create(memory, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
  CHECK_EQUAL(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);

  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_get_errhandler(win, &got);
  CHECK(got == MPI_ERRORS_ARE_FATAL);
  MPI_Win_create_errhandler(note_error, &handler);
  MPI_Win_set_errhandler(win, handler);
  CHECK_EQUAL(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler), MPI_ERR_ERRHANDLER);
  MPI_Errhandler_free(&handler);
  MPI_Win_call_errhandler(win, MPI_ERR_OTHER);
  CHECK_EQUAL(handled_class, MPI_ERR_OTHER);

  // Without an epoch.
  FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Get(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Fetch_and_op(&value, &other, MPI_INT, 0, 0, MPI_SUM, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Compare_and_swap(&value, &value, &other, MPI_INT, 0, 0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_test(win, &result), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_lock(77, 0, 0, win), MPI_ERR_LOCKTYPE);
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
  FAILS(MPI_Win_fence(1, win), MPI_ERR_ASSERT);
  FAILS(MPI_Win_attach(win, memory, 4), MPI_ERR_RMA_FLAVOR);
  FAILS(MPI_Win_detach(win, memory), MPI_ERR_RMA_FLAVOR);

  // In a fence epoch.
  MPI_Win_fence(0, win);
  FAILS(MPI_Put(&value, 1, MPI_INT, size, 0, 1, MPI_INT, win), MPI_ERR_RANK);
  FAILS(MPI_Put(&value, 1, MPI_INT, 0, 4, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Put(&value, 1, MPI_INT, 0, -1, 1, MPI_INT, win), MPI_ERR_DISP);
  FAILS(MPI_Put(&value, 1, MPI_INT, 0, (MPI_Aint)1 << 62, 1, MPI_INT, win), MPI_ERR_RMA_RANGE);
  FAILS(MPI_Put(&value, -1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_COUNT);
  FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, -1, MPI_INT, win), MPI_ERR_COUNT);
  FAILS(MPI_Put(&value, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win), MPI_ERR_TYPE);
  FAILS(MPI_Put(&value, 1, MPI_INT, 0, 0, 1, uncommitted, win), MPI_ERR_TYPE);
  FAILS(MPI_Put(NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_BUFFER);
  FAILS(MPI_Put(memory, 2, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_TRUNCATE);
  FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, op, win), MPI_ERR_OP);
  FAILS(MPI_Accumulate(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
  FAILS(MPI_Accumulate(&value, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP);
  FAILS(MPI_Accumulate(&value, 1, MPI_FLOAT, 0, 0, 1, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
  FAILS(MPI_Accumulate(memory, 1, mixed, 0, 0, 1, mixed, MPI_REPLACE, win), MPI_ERR_TYPE);
  FAILS(MPI_Fetch_and_op(&value, &other, mixed, 0, 0, MPI_SUM, win), MPI_ERR_TYPE);
  FAILS(MPI_Compare_and_swap(&value, &value, &other, MPI_FLOAT, 0, 0, win), MPI_ERR_TYPE);
  FAILS(MPI_Rput(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
  CHECK_EQUAL(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 99, 1, MPI_INT, win), MPI_SUCCESS);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);

  // Epochs do not nest.
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_start(self, 0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_post(self, 0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
  if (size > 1) {
    FAILS(MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock((rank + 1) % size, win), MPI_ERR_RMA_SYNC);
  }
  MPI_Win_unlock(rank, win);
  MPI_Win_post(self, 0, win);
  FAILS(MPI_Win_post(self, 0, win), MPI_ERR_RMA_SYNC);
  MPI_Win_start(self, 0, win);
  FAILS(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
  if (size > 1)
    FAILS(MPI_Put(&value, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  FAILS(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
  value = 5;
  MPI_Put(&value, 1, MPI_INT, rank, 3, 1, MPI_INT, win);
  MPI_Win_complete(win);
  MPI_Win_wait(win);
  CHECK_EQUAL(memory[3], 5);
  MPI_Win_free(&win);
  CHECK_EQUAL(MPI_Win_free(&win), MPI_ERR_WIN);

  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Aint bytes;
  int unit;
  void* base;
  CHECK_EQUAL(MPI_Win_shared_query(win, 0, &bytes, &unit, &base), MPI_ERR_RMA_FLAVOR);
  CHECK_EQUAL(MPI_Win_attach(win, NULL, 4), MPI_ERR_RMA_ATTACH);
  CHECK_EQUAL(MPI_Win_attach(win, memory, -4), MPI_ERR_SIZE);
  MPI_Win_free(&win);
  MPI_Op_free(&op);
  MPI_Type_free(&mixed);
  MPI_Type_free(&uncommitted);
  MPI_Group_free(&self);
  MPI_Group_free(&world);
  MPI_Finalize();
  return 0;
}
