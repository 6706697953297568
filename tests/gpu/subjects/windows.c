// One-sided communication with memory of a device: as the memory of windows, as what operations
// read and return, in all kinds of epochs. The argument: "checked", no wrong call; or what is
// refused.
#include "values.h"

enum { length = 2000, large = host_length };

static int right, left;

/* A window of this rank and the memory that it is. */
typedef struct {
  MPI_Win window;
  CUdeviceptr memory, sent, received;
} Windows;

static Windows make_windows(int count) {
  const size_t bytes = (size_t)count * sizeof(double);
  Windows made = {.memory = allocate(bytes), .sent = allocate(bytes), .received = allocate(bytes)};
  MPI_Win_create(at(made.memory), (MPI_Aint)bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &made.window);
  return made;
}

static void free_windows(Windows* of) {
  MPI_Win_free(&of->window);
  CHECK(cuda.cuMemFree(of->memory));
  CHECK(cuda.cuMemFree(of->sent));
  CHECK(cuda.cuMemFree(of->received));
}

static void check_fence(void) {
  Windows w = make_windows(length);
  void* base;
  int flag;
  MPI_Win_get_attr(w.window, MPI_WIN_BASE, &base, &flag);
  REQUIRE(flag != 0 && base == at(w.memory));
  MPI_Aint size;
  int unit;
  MPI_Win_shared_query(w.window, rank_number, &size, &unit, &base);
  REQUIRE(base == at(w.memory) && size == length * sizeof(double) && unit == sizeof(double));
  for (int round = 0; round < 2; ++round) {
    double values[length], back[length];
    put_row(w.memory, -1, length);
    put_row(w.sent, 1000 * rank_number + round, length);
    for (int i = 0; i < length; ++i)
      values[i] = 500 * rank_number + i;
    MPI_Win_fence(0, w.window);
    // From a device, and from the host.
    MPI_Put(at(w.sent), 700, MPI_DOUBLE, right, 100, 700, MPI_DOUBLE, w.window);
    MPI_Put(values, 50, MPI_DOUBLE, right, 900, 50, MPI_DOUBLE, w.window);
    MPI_Win_fence(0, w.window);
    CHECK_ROW(w.memory, -1, 100);
    CHECK_ROW(w.memory + 100 * sizeof(double), 1000 * left + round, 700);
    CHECK_ROW(w.memory + 800 * sizeof(double), 799, 100);
    CHECK_ROW(w.memory + 900 * sizeof(double), 500 * left, 50);
    CHECK_ROW(w.memory + 950 * sizeof(double), 949, length - 950);
    put_row(w.received, -7, length);
    MPI_Win_fence(0, w.window);
    MPI_Get(at(w.received), 700, MPI_DOUBLE, right, 100, 700, MPI_DOUBLE, w.window);
    MPI_Get(back, 50, MPI_DOUBLE, right, 900, 50, MPI_DOUBLE, w.window);
    MPI_Get(at(w.received), 1, MPI_DOUBLE, MPI_PROC_NULL, 0, 1, MPI_DOUBLE, w.window);
    MPI_Win_fence(0, w.window);
    CHECK_ROW(w.received, 1000 * rank_number + round, 700);
    CHECK_ROW(w.received + 700 * sizeof(double), 693, length - 700);
    CHECK_HOST(back, 500 * rank_number, 50);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w.window);
  free_windows(&w);
}

static void check_post_and_start(void) {
  Windows w = make_windows(length);
  MPI_Group all, before, behind;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &left, &before);
  MPI_Group_incl(all, 1, &right, &behind);
  put_row(w.sent, 10 * rank_number, length);
  for (int round = 0; round < 3; ++round) {
    put_row(w.memory, -round, length);
    MPI_Win_post(before, 0, w.window);
    MPI_Win_start(behind, 0, w.window);
    MPI_Put(at(w.sent), 5, MPI_DOUBLE, right, 0, 5, MPI_DOUBLE, w.window);
    MPI_Put(at(w.sent + 15 * sizeof(double)), length - 15, MPI_DOUBLE, right, 15, length - 15,
            MPI_DOUBLE, w.window);
    MPI_Accumulate(at(w.sent), 10, MPI_DOUBLE, right, 5, 10, MPI_DOUBLE, MPI_REPLACE, w.window);
    MPI_Win_complete(w.window);
    MPI_Win_wait(w.window);
    CHECK_ROW(w.memory, 10 * left, 5);
    CHECK_ROW(w.memory + 5 * sizeof(double), 10 * left, 10);
    CHECK_ROW(w.memory + 15 * sizeof(double), 10 * left + 15, length - 15);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&before);
  MPI_Group_free(&behind);
  free_windows(&w);
}

/* Rows of a matrix to columns of another one, between them bytes that stay. */
static void check_types(void) {
  enum { edge = 40 };

  Windows w = make_windows(edge * edge);
  MPI_Datatype column, pairs;
  MPI_Type_vector(edge, 1, edge, MPI_DOUBLE, &column);
  MPI_Type_vector(edge / 2, 2, 4, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&column);
  MPI_Type_commit(&pairs);
  put_row(w.memory, -10000, edge * edge);
  put_row(w.sent, 5000 * rank_number, edge * edge);
  MPI_Win_fence(0, w.window);
  MPI_Put(at(w.sent), edge, MPI_DOUBLE, right, 3, 1, column, w.window);
  MPI_Put(at(w.sent + edge * sizeof(double)), 1, pairs, right, 7, 1, column, w.window);
  MPI_Win_fence(0, w.window);
  const double* values = get(w.memory, edge * edge);
  for (int i = 0; i < edge * edge; ++i) {
    const int row = i / edge, place = i % edge;
    const double expected = place == 3   ? 5000 * left + row
                            : place == 7 ? 5000 * left + edge + row / 2 * 4 + row % 2
                                         : -10000 + i;
    if (values[i] != expected) fail(__LINE__, "%d is %g, not %g", i, values[i], expected);
  }
  put_row(w.received, -20000, edge * edge);
  MPI_Win_fence(0, w.window);
  MPI_Get(at(w.received), 1, column, right, 3, 1, column, w.window);
  MPI_Get(at(w.received + 2 * sizeof(double)), 1, column, right, 7 + edge, edge - 1, MPI_DOUBLE,
          w.window);
  MPI_Win_fence(0, w.window);
  values = get(w.received, edge * edge);
  for (int row = 0; row < edge; ++row) {
    REQUIRE(values[row * edge] == 5000 * rank_number + row);
    REQUIRE(values[row * edge + 1] == -20000 + row * edge + 1);
  }
  // The last element stays.
  REQUIRE(values[2] == 5000 * rank_number + edge + 1);
  REQUIRE(values[edge + 2] == -10000 + edge + 8);
  REQUIRE(values[(edge - 1) * edge + 2] == -20000 + (edge - 1) * edge + 2);
  MPI_Win_fence(0, w.window);
  // Sums in a column, from rows with gaps.
  put_row(w.memory, 0, edge * edge);
  MPI_Win_fence(0, w.window);
  MPI_Accumulate(at(w.sent), 1, pairs, right, 1, 1, column, MPI_SUM, w.window);
  MPI_Win_fence(0, w.window);
  values = get(w.memory, edge * edge);
  for (int i = 0; i < edge * edge; ++i) {
    const int row = i / edge;
    const double added = i % edge == 1 ? 5000 * left + row / 2 * 4 + row % 2 : 0;
    REQUIRE(values[i] == i + added);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&pairs);
  free_windows(&w);
}

/* All ranks add to the elements of all, and count. */
static void check_atomic(void) {
  enum { rounds = 5, cells = 100 };

  Windows w = make_windows(cells);
  CUdeviceptr counter = allocate(2 * sizeof(long)), result = allocate(3 * sizeof(long));
  MPI_Win count_window;
  MPI_Win_create(at(counter), 2 * sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &count_window);
  long zero[2] = {0, -1}, one = 1, seen_sum = 0;
  CHECK(cuda.cuMemcpyHtoD(counter, zero, sizeof zero));
  CHECK(cuda.cuMemcpyHtoD(result + sizeof(long), &one, sizeof one));
  CHECK(cuda.cuMemsetD8(w.memory, 0, cells * sizeof(double)));
  put_row(w.sent, rank_number, cells);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, w.window);
  MPI_Win_lock_all(0, count_window);
  for (int round = 0; round < rounds; ++round) {
    for (int target = 0; target < rank_count; ++target)
      MPI_Accumulate(at(w.sent), cells, MPI_DOUBLE, target, 0, cells, MPI_DOUBLE, MPI_SUM,
                     w.window);
    // The operand and the result on a device, or on the host.
    long seen = -1;
    if (round % 2 == 0) {
      MPI_Fetch_and_op(at(result + sizeof(long)), at(result), MPI_LONG, 0, 0, MPI_SUM,
                       count_window);
      MPI_Win_flush(0, count_window);
      CHECK(cuda.cuMemcpyDtoH(&seen, result, sizeof seen));
    } else {
      MPI_Fetch_and_op(&one, &seen, MPI_LONG, 0, 0, MPI_SUM, count_window);
      MPI_Win_flush(0, count_window);
    }
    REQUIRE(seen >= 0 && seen < (long)rounds * rank_count);
    seen_sum += seen;
  }
  MPI_Win_flush_all(w.window);
  MPI_Win_unlock_all(w.window);
  MPI_Win_unlock_all(count_window);
  MPI_Barrier(MPI_COMM_WORLD);
  const double ranks_sum = rank_count * (rank_count - 1) / 2;
  const double* values = get(w.memory, cells);
  for (int i = 0; i < cells; ++i)
    REQUIRE(values[i] == rounds * (ranks_sum + (double)i * rank_count));
  // Each number once.
  long all = 0;
  const long total = (long)rounds * rank_count;
  MPI_Allreduce(&seen_sum, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(all == total * (total - 1) / 2);
  // One rank replaces the value.
  long compare = -1, own = rank_number, old = -2, winner_count = 0;
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, count_window);
  CHECK(cuda.cuMemcpyHtoD(result, &own, sizeof own));
  CHECK(cuda.cuMemcpyHtoD(result + sizeof(long), &compare, sizeof compare));
  if (rank_number % 2 == 0) {
    MPI_Compare_and_swap(at(result), at(result + sizeof(long)), at(result + 2 * sizeof(long)),
                         MPI_LONG, 0, 1, count_window);
    MPI_Win_flush(0, count_window);
    CHECK(cuda.cuMemcpyDtoH(&old, result + 2 * sizeof(long), sizeof old));
  } else {
    MPI_Compare_and_swap(&own, &compare, &old, MPI_LONG, 0, 1, count_window);
    MPI_Win_flush(0, count_window);
  }
  MPI_Win_unlock(0, count_window);
  const long is_winner = old == -1;
  MPI_Allreduce(&is_winner, &winner_count, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(winner_count == 1 && old >= -1 && old < rank_count);
  // What the elements were, summed up.
  double before[cells];
  put_row(w.received, -1, cells);
  MPI_Win_fence(0, w.window);
  if (rank_number == 0) {
    MPI_Get_accumulate(at(w.sent), cells, MPI_DOUBLE, at(w.received), cells, MPI_DOUBLE, right, 0,
                       cells, MPI_DOUBLE, MPI_SUM, w.window);
    MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, before, cells, MPI_DOUBLE, right, 0, cells, MPI_DOUBLE,
                       MPI_NO_OP, w.window);
  }
  MPI_Win_fence(0, w.window);
  if (rank_number == 0) {
    values = get(w.received, cells);
    for (int i = 0; i < cells; ++i) {
      REQUIRE(values[i] == rounds * (ranks_sum + (double)i * rank_count));
      REQUIRE(before[i] == values[i] + i);
    }
  }
  MPI_Win_free(&count_window);
  CHECK(cuda.cuMemFree(counter));
  CHECK(cuda.cuMemFree(result));
  free_windows(&w);
}

/* Values and their places: elements with gaps. */
static void check_pairs(void) {
  enum { count = 300 };

  typedef struct {
    double value;
    int place;
  } Pair;

  Pair own[count];
  CUdeviceptr memory = allocate(sizeof own), operand = allocate(sizeof own);
  MPI_Win window;
  memset(own, 0x55, sizeof own);
  for (int i = 0; i < count; ++i) {
    own[i].value = -1;
    own[i].place = -1;
  }
  CHECK(cuda.cuMemcpyHtoD(memory, own, sizeof own));
  for (int i = 0; i < count; ++i) {
    own[i].value = (i + rank_number) % rank_count;
    own[i].place = rank_number;
  }
  CHECK(cuda.cuMemcpyHtoD(operand, own, sizeof own));
  MPI_Win_create(at(memory), sizeof own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Accumulate(at(operand), count, MPI_DOUBLE_INT, 0, 0, count, MPI_DOUBLE_INT, MPI_MAXLOC,
                 window);
  MPI_Win_fence(0, window);
  if (rank_number == 0) {
    CHECK(cuda.cuMemcpyDtoH(own, memory, sizeof own));
    for (int i = 0; i < count; ++i) {
      const int place = ((rank_count - 1 - i) % rank_count + rank_count) % rank_count;
      REQUIRE(own[i].value == rank_count - 1 && own[i].place == place);
    }
  }
  MPI_Win_free(&window);
  CHECK(cuda.cuMemFree(memory));
  CHECK(cuda.cuMemFree(operand));
}

static void check_requests(void) {
  Windows w = make_windows(length);
  MPI_Request requests[3];
  put_row(w.memory, 100 * rank_number, length);
  put_row(w.sent, 7 * rank_number, length);
  put_row(w.received, -1, length);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w.window);
  MPI_Rput(at(w.sent), 20, MPI_DOUBLE, right, 0, 20, MPI_DOUBLE, w.window, &requests[0]);
  MPI_Raccumulate(at(w.sent), 20, MPI_DOUBLE, right, 20, 20, MPI_DOUBLE, MPI_SUM, w.window,
                  &requests[1]);
  MPI_Rget(at(w.received), 20, MPI_DOUBLE, right, 40, 20, MPI_DOUBLE, w.window, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  CHECK_ROW(w.received, 100 * right + 40, 20);
  CHECK_ROW(w.received + 20 * sizeof(double), 19, length - 20);
  // Complete by a flush, before its request is.
  MPI_Rget_accumulate(at(w.sent), 20, MPI_DOUBLE, at(w.received), 20, MPI_DOUBLE, right, 60, 20,
                      MPI_DOUBLE, MPI_REPLACE, w.window, &requests[0]);
  MPI_Win_flush(right, w.window);
  CHECK_ROW(w.received, 100 * right + 60, 20);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Win_unlock(right, w.window);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_ROW(w.memory, 7 * left, 20);
  const double* values = get(w.memory + 20 * sizeof(double), 20);
  for (int i = 0; i < 20; ++i)
    REQUIRE(values[i] == 100 * rank_number + 20 + i + 7 * left + i);
  CHECK_ROW(w.memory + 40 * sizeof(double), 100 * rank_number + 40, 20);
  CHECK_ROW(w.memory + 60 * sizeof(double), 7 * left, 20);
  MPI_Barrier(MPI_COMM_WORLD);
  free_windows(&w);
}

/* Memory of the host and of a device in one window. */
static void check_dynamic(void) {
  MPI_Win window;
  static double on_host[100];
  CUdeviceptr first = allocate(100 * sizeof(double)), sent = allocate(100 * sizeof(double));
  MPI_Aint addresses[2] = {(MPI_Aint)on_host, (MPI_Aint)first}, others[2];
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, on_host, sizeof on_host);
  MPI_Win_attach(window, at(first), 100 * sizeof(double));
  MPI_Sendrecv(addresses, 2, MPI_AINT, left, 0, others, 2, MPI_AINT, right, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  put_row(sent, 30 * rank_number, 100);
  put_row(first, -3, 100);
  for (int i = 0; i < 100; ++i)
    on_host[i] = -4;
  MPI_Win_fence(0, window);
  MPI_Put(at(sent), 100, MPI_DOUBLE, right, others[0], 100, MPI_DOUBLE, window);
  MPI_Put(at(sent), 50, MPI_DOUBLE, right, others[1] + 8, 50, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  CHECK_HOST(on_host, 30 * left, 100);
  CHECK_ROW(first, -3, 1);
  CHECK_ROW(first + 8, 30 * left, 50);
  CHECK_ROW(first + 51 * 8, 48, 49);
  double back[100];
  MPI_Win_lock_all(0, window);
  MPI_Get(back, 50, MPI_DOUBLE, right, others[1] + 8, 50, MPI_DOUBLE, window);
  MPI_Win_unlock_all(window);
  CHECK_HOST(back, 30 * rank_number, 50);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(window, at(first));
  MPI_Win_detach(window, on_host);
  MPI_Win_free(&window);
  CHECK(cuda.cuMemFree(first));
  CHECK(cuda.cuMemFree(sent));
}

/* Each second rank exposes memory of the host, one nothing, and the last one memory of the device
 * that is not the current one. */
static void check_several(void) {
  enum { count = 64 };

  int device_count;
  CUcontext first, second = NULL;
  static double on_host[count];
  void* base = on_host;
  CUdeviceptr there = 0;
  CHECK(cuda.cuDeviceGetCount(&device_count));
  CHECK(cuda.cuCtxGetCurrent(&first));
  if (rank_number % 2 == 0) {
    if (device_count > 1) {
      CUdevice device;
      CHECK(cuda.cuDeviceGet(&device, 1));
      CHECK(cuda.cuDevicePrimaryCtxRetain(&second, device));
      CHECK(cuda.cuCtxSetCurrent(second));
    }
    there = allocate(count * sizeof(double));
    CHECK(cuda.cuCtxSetCurrent(first));
    base = at(there);
  }
  MPI_Win window;
  MPI_Win_create(base, count * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &window);
  double own[count], other[count];
  for (int i = 0; i < count; ++i)
    own[i] = 9 * rank_number + i;
  MPI_Win_fence(0, window);
  MPI_Put(own, count, MPI_DOUBLE, right, 0, count, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Get(other, count, MPI_DOUBLE, right, 0, count, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  CHECK_HOST(other, 9 * rank_number, count);
  if (there != 0) {
    CHECK_ROW(there, 9 * left, count);
  } else {
    CHECK_HOST(on_host, 9 * left, count);
  }
  CUcontext now;
  CHECK(cuda.cuCtxGetCurrent(&now));
  REQUIRE(now == first);
  MPI_Win_free(&window);
  if (there != 0) CHECK(cuda.cuMemFree(there));
}

/* Longer than a piece, and a packet. */
static void check_large(void) {
  Windows w = make_windows(large);
  put_row(w.sent, rank_number, large);
  put_row(w.memory, 0, large);
  MPI_Win_fence(0, w.window);
  MPI_Put(at(w.sent), large, MPI_DOUBLE, right, 0, large, MPI_DOUBLE, w.window);
  MPI_Win_fence(0, w.window);
  MPI_Accumulate(at(w.sent), large, MPI_DOUBLE, right, 0, large, MPI_DOUBLE, MPI_SUM, w.window);
  MPI_Win_fence(0, w.window);
  const double* values = get(w.memory, large);
  for (int i = 0; i < large; ++i)
    if (values[i] != 2 * (left + i)) fail(__LINE__, "value %d is %g", i, values[i]);
  MPI_Win_fence(0, w.window);
  MPI_Get(at(w.received), large, MPI_DOUBLE, right, 0, large, MPI_DOUBLE, w.window);
  MPI_Win_fence(0, w.window);
  values = get(w.received, large);
  for (int i = 0; i < large; ++i)
    if (values[i] != 2 * (rank_number + i)) fail(__LINE__, "value %d is %g", i, values[i]);
  free_windows(&w);
}

static void check_errors(void) {
  Windows w = make_windows(10);
  int class = MPI_SUCCESS;
  MPI_Win_set_errhandler(w.window, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, w.window);
  int error = MPI_Put(at(w.sent), 10, MPI_DOUBLE, right, 1, 10, MPI_DOUBLE, w.window);
  MPI_Error_class(error, &class);
  REQUIRE(class == MPI_ERR_RMA_RANGE);
  error = MPI_Put(at(w.sent), 5, MPI_DOUBLE, right, 1, 4, MPI_DOUBLE, w.window);
  MPI_Error_class(error, &class);
  REQUIRE(class == MPI_ERR_TRUNCATE);
  MPI_Win_fence(0, w.window);
  free_windows(&w);
}

/* Calls that end the job with a line. */
static void call_refused(const char* what) {
  MPI_Win window;
  Windows w = make_windows(1000);
  MPI_Win_fence(0, w.window);
  if (strcmp(what, "create") == 0)
    MPI_Win_create(at(w.sent), 100000, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (strcmp(what, "attach") == 0) {
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, at(w.sent), 100000);
  }
  if (strcmp(what, "origin") == 0)
    MPI_Put(at(w.sent), 1001, MPI_DOUBLE, right, 0, 1001, MPI_DOUBLE, w.window);
  if (strcmp(what, "freed") == 0) {
    CHECK(cuda.cuMemFree(w.memory));
    MPI_Barrier(MPI_COMM_WORLD);
    // In another process, if there are several.
    const int target = (rank_number + rank_count / 2) % rank_count;
    MPI_Get(host, 10, MPI_DOUBLE, target, 0, 10, MPI_DOUBLE, w.window);
    MPI_Win_fence(0, w.window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(0);
  right = (rank_number + 1) % rank_count;
  left = (rank_number + rank_count - 1) % rank_count;
  const char* mode = argc > 1 ? argv[1] : "";
  if (argc > 1 && strcmp(mode, "checked") != 0) call_refused(mode);
  for (int round = 0; round < 2; ++round) {
    check_fence();
    check_post_and_start();
    check_types();
    check_atomic();
    check_pairs();
    check_requests();
    check_dynamic();
    check_several();
  }
  check_large();
  if (strcmp(mode, "checked") != 0) check_errors();
  printf("windows of rank %d are on the device\n", rank_number);
  MPI_Finalize();
  return 0;
}
