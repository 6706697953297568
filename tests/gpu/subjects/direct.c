// Messages between ranks of a process, both with buffers on a device: data that is longer than what
// is copied at once stays on the device. So does what puts and gets copy. The argument: "apart",
// the ranks' buffers are on two devices; "freed" and "freed-receive", memory that is freed before
// its message is received.
#include "values.h"

enum { length = 5000, edge = 80, cells = edge * edge };

static int right, left, is_apart;
static CUdeviceptr sent, received, got;

/* Copies on devices, and to the host, by all ranks since the last call. */
static void take_copies(long* on_device, long* to_host) {
  static long device_before, host_before;
  MPI_Barrier(MPI_COMM_WORLD);
  const long device_now = cuda.count(FAKE_CUDA_DEVICE_COPIES);
  const long host_now = cuda.count(FAKE_CUDA_HOST_COPIES);
  MPI_Barrier(MPI_COMM_WORLD);
  *on_device = device_now - device_before;
  *to_host = host_now - host_before;
  device_before = device_now;
  host_before = host_now;
}

/* That many messages were copied on the device, and none to the host; on two devices, the other way
 * round. Between ranks of one device the number is that of all. */
static void check_copies(int line, long message_count) {
  long on_device, to_host;
  take_copies(&on_device, &to_host);
  const long direct = is_apart ? 0 : message_count, staged = is_apart ? message_count : 0;
  if (is_apart && rank_count > 2) return;
  if (on_device != direct || to_host != staged)
    fail(line, "%ld copies on the device, not %ld; %ld to the host, not %ld", on_device, direct,
         to_host, staged);
}

#define CHECK_COPIES(message_count) check_copies(__LINE__, message_count)

static void fill(void) {
  put_row(sent, 1000 * rank_number, cells);
  put_row(received, -1, cells);
  long on_device, to_host;
  take_copies(&on_device, &to_host);
}

static void check_calls(void) {
  MPI_Request requests[2];
  MPI_Status status;
  int count;
  for (int variant = 0; variant < 8; ++variant) {
    fill();
    if (variant == 0) {
      MPI_Sendrecv(at(sent), length, MPI_DOUBLE, right, 1, at(received), length, MPI_DOUBLE, left,
                   1, MPI_COMM_WORLD, &status);
    } else if (variant == 1) {
      // The receive is late.
      MPI_Isend(at(sent), length, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[0]);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Recv(at(received), length, MPI_DOUBLE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (variant == 2) {
      // The receive is early.
      MPI_Irecv(at(received), length, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &requests[0]);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Issend(at(sent), length, MPI_DOUBLE, right, 3, MPI_COMM_WORLD, &requests[1]);
      int flag = 0;
      while (flag == 0)
        MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
      status.MPI_SOURCE = left;
    } else if (variant == 3) {
      MPI_Irecv(at(received), length, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &requests[0]);
      MPI_Send(at(sent), length, MPI_DOUBLE, right, 4, MPI_COMM_WORLD);
      MPI_Wait(&requests[0], &status);
    } else if (variant == 4) {
      MPI_Irecv(at(received), length, MPI_DOUBLE, left, 5, MPI_COMM_WORLD, &requests[0]);
      MPI_Ssend(at(sent), length, MPI_DOUBLE, right, 5, MPI_COMM_WORLD);
      MPI_Wait(&requests[0], &status);
    } else if (variant == 5) {
      MPI_Message message;
      MPI_Isend(at(sent), length, MPI_DOUBLE, right, 6, MPI_COMM_WORLD, &requests[0]);
      MPI_Mprobe(left, 6, MPI_COMM_WORLD, &message, &status);
      MPI_Get_count(&status, MPI_DOUBLE, &count);
      REQUIRE(count == length);
      MPI_Mrecv(at(received), length, MPI_DOUBLE, &message, &status);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else if (variant == 6) {
      // The datatype is freed, and so is a request.
      MPI_Datatype row;
      MPI_Type_contiguous(length, MPI_DOUBLE, &row);
      MPI_Type_commit(&row);
      MPI_Isend(at(sent), 1, row, right, 7, MPI_COMM_WORLD, &requests[0]);
      MPI_Type_free(&row);
      MPI_Request_free(&requests[0]);
      MPI_Recv(at(received), length, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &status);
    } else {
      // More room than data.
      MPI_Irecv(at(received), cells, MPI_DOUBLE, left, 8, MPI_COMM_WORLD, &requests[0]);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Isend(at(sent), length, MPI_DOUBLE, right, 8, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      status.MPI_SOURCE = left;
    }
    REQUIRE(status.MPI_SOURCE == left);
    CHECK_COPIES(rank_count);
    CHECK_ROW(received, 1000 * left, length);
    CHECK_ROW(received + length * sizeof(double), length - 1, cells - length);
  }
}

static void check_persistent(void) {
  MPI_Request requests[2];
  double* on_host = malloc(length * sizeof(double));
  MPI_Recv_init(at(received), length, MPI_DOUBLE, left, 9, MPI_COMM_WORLD, &requests[0]);
  for (int round = 0; round < 4; ++round) {
    fill();
    MPI_Start(&requests[0]);
    // From a device and from the host in turn: the receive is the same.
    const int is_direct = round % 2 == 0;
    for (int i = 0; i < length; ++i)
      on_host[i] = 7000 * rank_number + i;
    MPI_Isend(is_direct ? at(sent) : on_host, length, MPI_DOUBLE, right, 9, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_COPIES(is_direct ? rank_count : 0);
    CHECK_ROW(received, (is_direct ? 1000 : 7000) * left, length);
  }
  MPI_Request_free(&requests[0]);
  free(on_host);
}

/* From a device to the host of a rank that has memory on one, too. */
static void check_host(void) {
  MPI_Request request;
  double* on_host = malloc(cells * sizeof(double));
  for (int is_late = 0; is_late < 2; ++is_late) {
    fill();
    if (is_late == 0) MPI_Irecv(on_host, length, MPI_DOUBLE, left, 10, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request sending;
    MPI_Isend(at(sent), length, MPI_DOUBLE, right, 10, MPI_COMM_WORLD, &sending);
    if (is_late != 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Irecv(on_host, length, MPI_DOUBLE, left, 10, MPI_COMM_WORLD, &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    CHECK_HOST(on_host, 1000 * left, length);
  }
  // Into gaps.
  MPI_Datatype spread;
  MPI_Type_vector(cells / 2, 1, 2, MPI_DOUBLE, &spread);
  MPI_Type_commit(&spread);
  fill();
  for (int i = 0; i < cells; ++i)
    on_host[i] = -5;
  MPI_Sendrecv(at(sent), cells / 2, MPI_DOUBLE, right, 11, on_host, 1, spread, left, 11,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < cells; ++i)
    REQUIRE(on_host[i] == (i % 2 == 0 ? 1000 * left + i / 2 : -5));
  MPI_Type_free(&spread);
  free(on_host);
}

/* The element of the packed stream that is at `place` of a square of that layout; -1: none. */
typedef int Stream(int place);

static int in_order(int place) {
  return place;
}

static int in_columns(int place) {
  return place % edge * edge + place / edge;
}

static int in_left_half(int place) {
  return place % edge < edge / 2 ? place / edge * (edge / 2) + place % edge : -1;
}

static int in_pairs(int place) {
  return place % 4 < 2 ? place / 4 * 2 + place % 4 : -1;
}

static int in_blocks(int place) {
  const int block = place / 100;
  return place % 100 < 70 && block < cells / 100 ? block * 70 + place % 100 : -1;
}

static void check_layouts(void) {
  enum { layout_count = 5 };

  MPI_Datatype types[layout_count], column, resized;
  static Stream* const streams[layout_count] = {in_order, in_columns, in_left_half, in_pairs,
                                                in_blocks};
  const int counts[layout_count] = {cells, edge, 1, 1, 1};
  const MPI_Aint double_bytes = sizeof(double);
  int lengths[cells / 100], places[cells / 100];
  for (int i = 0; i < cells / 100; ++i) {
    lengths[i] = 70;
    places[i] = 100 * i;
  }
  MPI_Type_dup(MPI_DOUBLE, &types[0]);
  MPI_Type_vector(edge, 1, edge, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, double_bytes, &resized);
  MPI_Type_dup(resized, &types[1]);
  MPI_Type_vector(edge, edge / 2, edge, MPI_DOUBLE, &types[2]);
  MPI_Type_vector(cells / 4, 2, 4, MPI_DOUBLE, &types[3]);
  MPI_Type_indexed(cells / 100, lengths, places, MPI_DOUBLE, &types[4]);
  for (int i = 0; i < layout_count; ++i)
    MPI_Type_commit(&types[i]);
  for (int from = 0; from < layout_count; ++from) {
    for (int to = 0; to < layout_count; ++to) {
      static double expected[cells];
      int from_size, to_size;
      MPI_Type_size(types[from], &from_size);
      MPI_Type_size(types[to], &to_size);
      // As much as there is room for.
      const int from_bytes = counts[from] * from_size, to_bytes = counts[to] * to_size;
      if (from_bytes > to_bytes) continue;
      fill();
      MPI_Sendrecv(at(sent), counts[from], types[from], right, 12, at(received), counts[to],
                   types[to], left, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      long on_device, to_host;
      take_copies(&on_device, &to_host);
      REQUIRE(is_apart || (on_device >= rank_count && to_host == 0));
      for (int place = 0; place < cells; ++place)
        if (streams[from](place) >= 0) expected[streams[from](place)] = 1000 * left + place;
      const double* values = get(received, cells);
      for (int place = 0; place < cells; ++place) {
        const int element = streams[to](place);
        const int is_written = element >= 0 && element * (int)sizeof(double) < from_bytes;
        const double right_value = is_written ? expected[element] : -1 + place;
        if (values[place] != right_value)
          fail(__LINE__, "%d to %d: value %d is %g, not %g", from, to, place, values[place],
               right_value);
      }
    }
  }
  MPI_Type_free(&column);
  MPI_Type_free(&resized);
  for (int i = 0; i < layout_count; ++i)
    MPI_Type_free(&types[i]);
}

/* A message from two allocations, and one to two, is not one copy. */
static void check_allocations(void) {
  enum { half = 1500 };

  MPI_Datatype type;
  CUdeviceptr other = allocate(half * sizeof(double));
  const int lengths[2] = {half, half};
  const MPI_Aint places[2] = {(MPI_Aint)sent, (MPI_Aint)other};
  MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  fill();
  put_row(other, 500 * rank_number, half);
  MPI_Sendrecv(MPI_BOTTOM, 1, type, right, 21, at(received), 2 * half, MPI_DOUBLE, left, 21,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_ROW(received, 1000 * left, half);
  CHECK_ROW(received + half * sizeof(double), 500 * left, half);
  put_row(received, 40 * rank_number, 2 * half);
  MPI_Sendrecv(at(received), 2 * half, MPI_DOUBLE, right, 22, MPI_BOTTOM, 1, type, left, 22,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_ROW(sent, 40 * left, half);
  CHECK_ROW(other, 40 * left + half, half);
  MPI_Type_free(&type);
  CHECK(cuda.cuMemFree(other));
}

/* To all ranks at once, and to itself. */
static void check_many(void) {
  enum { part = 2600 };

  CUdeviceptr all = allocate((size_t)rank_count * part * sizeof(double));
  MPI_Request* requests = malloc(2 * (size_t)rank_count * sizeof *requests);
  for (int round = 0; round < 3; ++round) {
    put_row(sent, 100 * rank_number + round, part);
    for (int i = 0; i < rank_count; ++i)
      MPI_Irecv(at(all + (size_t)i * part * sizeof(double)), part, MPI_DOUBLE, i, 13,
                MPI_COMM_WORLD, &requests[i]);
    if (round == 1) MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rank_count; ++i)
      MPI_Isend(at(sent), part, MPI_DOUBLE, (rank_number + i) % rank_count, 13, MPI_COMM_WORLD,
                &requests[rank_count + i]);
    MPI_Waitall(2 * rank_count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < rank_count; ++i)
      CHECK_ROW(all + (size_t)i * part * sizeof(double), 100 * i + round, part);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(requests);
  CHECK(cuda.cuMemFree(all));
}

enum { by_fence, by_lock, by_lock_all, by_flush, by_local_flush, by_start, epochs };

static void begin_epoch(int epoch, MPI_Win window, MPI_Group world) {
  if (epoch == by_fence) MPI_Win_fence(0, window);
  if (epoch == by_lock) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
  if (epoch == by_lock_all || epoch == by_local_flush) MPI_Win_lock_all(0, window);
  if (epoch == by_flush) MPI_Win_lock(MPI_LOCK_SHARED, right, 0, window);
  if (epoch != by_start) return;
  MPI_Win_post(world, 0, window);
  MPI_Win_start(world, 0, window);
}

/* What this rank has read is there afterwards. */
static void complete_operations(int epoch, MPI_Win window) {
  if (epoch == by_fence) MPI_Win_fence(0, window);
  if (epoch == by_lock) MPI_Win_unlock(right, window);
  if (epoch == by_lock_all) MPI_Win_unlock_all(window);
  if (epoch == by_flush) MPI_Win_flush(right, window);
  if (epoch == by_local_flush) MPI_Win_flush_local_all(window);
  if (epoch == by_start) MPI_Win_complete(window);
}

static void end_epoch(int epoch, MPI_Win window) {
  if (epoch == by_fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  if (epoch == by_flush) MPI_Win_unlock(right, window);
  if (epoch == by_local_flush) MPI_Win_unlock_all(window);
  if (epoch == by_start) MPI_Win_wait(window);
}

static void check_windows(void) {
  enum { place = 10 };

  MPI_Win window;
  MPI_Group world;
  MPI_Request requests[2];
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Win_create(at(received), cells * sizeof(double), sizeof(double), MPI_INFO_NULL,
                 MPI_COMM_WORLD, &window);
  const size_t begin = place * sizeof(double), end = begin + length * sizeof(double);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    put_row(got, -7, cells);
    fill();
    begin_epoch(epoch, window, world);
    MPI_Put(at(sent), length, MPI_DOUBLE, right, place, length, MPI_DOUBLE, window);
    complete_operations(epoch, window);
    end_epoch(epoch, window);
    CHECK_COPIES(rank_count);
    begin_epoch(epoch, window, world);
    MPI_Get(at(got + begin), length, MPI_DOUBLE, right, place, length, MPI_DOUBLE, window);
    complete_operations(epoch, window);
    CHECK_ROW(got + begin, 1000 * rank_number, length);
    end_epoch(epoch, window);
    CHECK_ROW(got, -7, place);
    CHECK_ROW(got + end, -7 + place + length, cells - place - length);
    CHECK_ROW(received, -1, place);
    CHECK_ROW(received + begin, 1000 * left, length);
    CHECK_ROW(received + end, -1 + place + length, cells - place - length);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // With a request: complete here when the request is.
  fill();
  MPI_Win_lock_all(0, window);
  MPI_Rput(at(sent), length, MPI_DOUBLE, right, 0, length, MPI_DOUBLE, window, &requests[0]);
  MPI_Rget(at(got), 100, MPI_DOUBLE, right, length, 100, MPI_DOUBLE, window, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK_ROW(got, -1 + length, 100);
  MPI_Win_unlock_all(window);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_ROW(received, 1000 * left, length);
  MPI_Win_free(&window);
  MPI_Group_free(&world);
}

static int class_of(int error) {
  int class;
  MPI_Error_class(error, &class);
  return class;
}

static void check_errors(void) {
  MPI_Request request;
  MPI_Status status;
  int flag;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // Too little room: what fits is received. The same request receives from the host afterwards.
  fill();
  MPI_Recv_init(at(received), 100, MPI_DOUBLE, left, 14, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Send(at(sent), length, MPI_DOUBLE, right, 14, MPI_COMM_WORLD);
  REQUIRE(class_of(MPI_Wait(&request, &status)) == MPI_ERR_TRUNCATE);
  CHECK_ROW(received + 100 * sizeof(double), 99, cells - 100);
  put_row(received, -1, cells);
  double few[100];
  for (int i = 0; i < 100; ++i)
    few[i] = 60 * rank_number + i;
  MPI_Start(&request);
  MPI_Send(few, 100, MPI_DOUBLE, right, 14, MPI_COMM_WORLD);
  REQUIRE(MPI_Wait(&request, &status) == MPI_SUCCESS);
  CHECK_ROW(received, 60 * left, 100);
  MPI_Request_free(&request);
  // No receive takes it.
  MPI_Isend(at(sent), length, MPI_DOUBLE, right, 15, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  REQUIRE(flag != 0);
  // Wrong arguments.
  REQUIRE(class_of(MPI_Send(at(sent), length, MPI_DOUBLE, rank_count, 16, MPI_COMM_WORLD)) ==
          MPI_ERR_RANK);
  REQUIRE(class_of(MPI_Send(at(sent), length, MPI_DOUBLE, right, -1000, MPI_COMM_WORLD)) ==
          MPI_ERR_TAG);
  REQUIRE(class_of(MPI_Sendrecv(at(sent), length, MPI_DOUBLE, right, 17, at(received), length,
                                MPI_DOUBLE, left, -1000, MPI_COMM_WORLD, &status)) == MPI_ERR_TAG);
  REQUIRE(MPI_Send(at(sent), length, MPI_DOUBLE, MPI_PROC_NULL, 18, MPI_COMM_WORLD) == MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
  REQUIRE(flag == 0);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The line of an error, at both ends. */
static void free_early(void) {
  MPI_Request request;
  int class;
  CUdeviceptr freed = allocate(cells * sizeof(double));
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  put_row(freed, 0, cells);
  MPI_Isend(at(freed), cells, MPI_DOUBLE, right, 19, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(cuda.cuMemFree(freed));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Error_class(
      MPI_Recv(at(received), cells, MPI_DOUBLE, left, 19, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
      &class);
  REQUIRE(class == MPI_ERR_BUFFER);
  MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &class);
  REQUIRE(class == MPI_ERR_BUFFER);
  // The receiver's.
  freed = allocate(cells * sizeof(double));
  MPI_Irecv(at(freed), cells, MPI_DOUBLE, left, 20, MPI_COMM_WORLD, &request);
  CHECK(cuda.cuMemFree(freed));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(at(sent), cells, MPI_DOUBLE, right, 20, MPI_COMM_WORLD);
  MPI_Error_class(MPI_Wait(&request, MPI_STATUS_IGNORE), &class);
  REQUIRE(class == MPI_ERR_OTHER);
  MPI_Barrier(MPI_COMM_WORLD);
  // With a line.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  freed = allocate(cells * sizeof(double));
  MPI_Isend(at(freed), cells, MPI_DOUBLE, right, 21, MPI_COMM_WORLD, &request);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(cuda.cuMemFree(freed));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Recv(at(received), cells, MPI_DOUBLE, left, 21, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* The line of an error at the receiver. */
static void free_receive(void) {
  MPI_Request request;
  CUdeviceptr freed = allocate(cells * sizeof(double));
  MPI_Irecv(at(freed), cells, MPI_DOUBLE, left, 22, MPI_COMM_WORLD, &request);
  CHECK(cuda.cuMemFree(freed));
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Send(at(sent), cells, MPI_DOUBLE, right, 22, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  const char* mode = argc > 1 ? argv[1] : "";
  is_apart = strcmp(mode, "apart") == 0;
  use_device(is_apart ? rank_number % 2 : 0);
  right = (rank_number + 1) % rank_count;
  left = (rank_number + rank_count - 1) % rank_count;
  sent = allocate(cells * sizeof(double));
  received = allocate(cells * sizeof(double));
  got = allocate(cells * sizeof(double));
  // Each rank knows that the others use the device.
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(mode, "freed") == 0) free_early();
  if (strcmp(mode, "freed-receive") == 0) free_receive();
  for (int round = 0; round < 2; ++round) {
    check_calls();
    check_persistent();
    check_host();
    check_layouts();
    check_allocations();
    check_many();
    check_windows();
    check_errors();
  }
  printf("messages of rank %d stay on the device\n", rank_number);
  MPI_Finalize();
  return 0;
}
