// Buffers in the memory of a device, which the host cannot access: point-to-point in all forms,
// datatypes with gaps, collectives, requests, packing, partitions, files. The argument: "large", a
// buffer longer than the pieces of pinned memory; "checked", no wrong call; "process", each
// rank is one; or what is refused.
#define _GNU_SOURCE
#include <mpi-ext.h>
#include <sys/mman.h>
#include <unistd.h>

#include "values.h"

enum { length = 3000 };

static int right, left;
static CUdeviceptr sent, received, further, big;

static void clear(void) {
  CHECK(cuda.cuMemsetD8(received, 0, length * sizeof(double)));
  put_row(sent, 1000 * rank_number, length);
}

static void check_messages(void) {
  MPI_Status status;
  MPI_Request requests[2];
  int count, flag;
  clear();
  MPI_Sendrecv(at(sent), length, MPI_DOUBLE, right, 1, at(received), length, MPI_DOUBLE, left, 1,
               MPI_COMM_WORLD, &status);
  CHECK_ROW(received, 1000 * left, length);
  clear();
  MPI_Irecv(at(received), length, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(at(sent), length, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK_ROW(received, 1000 * left, length);
  REQUIRE(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
  // A shorter message than the receive: the rest stays.
  clear();
  put_row(received, -length, length);
  MPI_Irecv(at(received), length, MPI_DOUBLE, left, 3, MPI_COMM_WORLD, &requests[0]);
  MPI_Send(at(sent), 10, MPI_DOUBLE, right, 3, MPI_COMM_WORLD);
  MPI_Wait(&requests[0], &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  REQUIRE(count == 10 && status.MPI_SOURCE == left);
  CHECK_ROW(received, 1000 * left, 10);
  CHECK_ROW(received + 10 * sizeof(double), -length + 10, length - 10);
  // From the host to a device, and back.
  clear();
  double* on_host = malloc(length * sizeof(double));
  for (int i = 0; i < length; ++i)
    on_host[i] = 7000 * rank_number + i;
  MPI_Sendrecv(on_host, length, MPI_DOUBLE, right, 4, at(received), length, MPI_DOUBLE, left, 4,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_ROW(received, 7000 * left, length);
  MPI_Sendrecv(at(sent), length, MPI_DOUBLE, right, 5, on_host, length, MPI_DOUBLE, left, 5,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  REQUIRE(on_host[length - 1] == 1000 * left + length - 1);
  free(on_host);
  // Persistent, and completion by tests.
  MPI_Recv_init(at(received), length, MPI_DOUBLE, left, 6, MPI_COMM_WORLD, &requests[0]);
  MPI_Send_init(at(sent), length, MPI_DOUBLE, right, 6, MPI_COMM_WORLD, &requests[1]);
  for (int round = 0; round < 3; ++round) {
    clear();
    put_row(sent, 1000 * rank_number + 10 * round, length);
    MPI_Startall(2, requests);
    for (flag = 0; flag == 0;)
      MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    CHECK_ROW(received, 1000 * left + 10 * round, length);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  for (int round = 0; round < 2; ++round) {
    int index = -1;
    clear();
    MPI_Irecv(at(received), length / 2, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(at(received + length / 2 * sizeof(double)), length / 2, MPI_DOUBLE, left, 8,
              MPI_COMM_WORLD, &requests[1]);
    MPI_Ssend(at(sent + length / 2 * sizeof(double)), length / 2, MPI_DOUBLE, right, 8,
              MPI_COMM_WORLD);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    REQUIRE(index == 1);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_ROW(received + length / 2 * sizeof(double), 1000 * left + length / 2, length / 2);
    MPI_Bsend(at(sent), 0, MPI_DOUBLE, right, 99, MPI_COMM_WORLD);
    MPI_Recv(at(received), 0, MPI_DOUBLE, left, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(at(sent), length / 2, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
    int indices[2], completed = 0;
    MPI_Waitsome(2, requests, &completed, indices, MPI_STATUSES_IGNORE);
    REQUIRE(completed == 1 && indices[0] == 0);
    CHECK_ROW(received, 1000 * left, length);
  }
  MPI_Message message;
  clear();
  MPI_Isend(at(sent), length, MPI_DOUBLE, right, 9, MPI_COMM_WORLD, &requests[0]);
  MPI_Mprobe(left, 9, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(at(received), length, MPI_DOUBLE, &message, &status);
  CHECK_ROW(received, 1000 * left, length);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Sendrecv_replace(at(sent), length, MPI_DOUBLE, right, 10, left, 10, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  CHECK_ROW(sent, 1000 * left, length);
}

/* Requests that are asked for, cancelled, and of collectives that are started again. */
static void check_requests(void) {
  MPI_Request request;
  MPI_Status status;
  int flag = 0;
  clear();
  MPI_Irecv(at(received), length, MPI_DOUBLE, left, 30, MPI_COMM_WORLD, &request);
  MPI_Send(at(sent), length, MPI_DOUBLE, right, 30, MPI_COMM_WORLD);
  while (flag == 0)
    MPI_Request_get_status(request, &flag, &status);
  CHECK_ROW(received, 1000 * left, length);
  // The request is complete: its end writes nothing.
  put_row(received, -5, length);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  REQUIRE(request == MPI_REQUEST_NULL);
  CHECK_ROW(received, -5, length);
  MPI_Irecv(at(received), length, MPI_DOUBLE, left, 31, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &flag);
  REQUIRE(flag != 0);
  CHECK_ROW(received, -5, length);
  MPI_Allreduce_init(at(sent), at(received), length, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &request);
  for (int round = 0; round < 3; ++round) {
    put_row(sent, 1000 * rank_number + round, length);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_ROW(received, 1000 * (rank_count - 1) + round, length);
  }
  MPI_Request_free(&request);
  MPI_Isendrecv(at(sent), 5, MPI_DOUBLE, right, 32, at(received), 7, MPI_DOUBLE, left, 32,
                MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_DOUBLE, &flag);
  REQUIRE(flag == 5);
  CHECK_ROW(received, 1000 * left + 2, 5);
  CHECK_ROW(received + 5 * sizeof(double), 1000 * (rank_count - 1) + 7, length - 5);
}

/* Absolute addresses, in two allocations. */
static void check_bottom(void) {
  const int lengths[2] = {20, 10};
  const MPI_Aint places[2] = {(MPI_Aint)further, (MPI_Aint)(sent + 8 * sizeof(double))};
  MPI_Datatype both;
  MPI_Type_create_hindexed(2, lengths, places, MPI_DOUBLE, &both);
  MPI_Type_commit(&both);
  clear();
  put_row(further, 400 * rank_number, 20);
  MPI_Sendrecv(MPI_BOTTOM, 1, both, right, 40, at(received), 30, MPI_DOUBLE, left, 40,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_ROW(received, 400 * left, 20);
  CHECK_ROW(received + 20 * sizeof(double), 1000 * left + 8, 10);
  put_row(received, 90, 30);
  MPI_Sendrecv(at(received), 30, MPI_DOUBLE, right, 41, MPI_BOTTOM, 1, both, left, 41,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_ROW(further, 90, 20);
  CHECK_ROW(sent + 8 * sizeof(double), 110, 10);
  CHECK_ROW(sent, 1000 * rank_number, 8);
  MPI_Type_free(&both);
}

/* Memory of a device that is not the current one. */
static void check_devices(void) {
  int device_count;
  CUcontext first, second;
  CUdevice device;
  CHECK(cuda.cuDeviceGetCount(&device_count));
  if (device_count < 2) return;
  CHECK(cuda.cuCtxGetCurrent(&first));
  CHECK(cuda.cuDeviceGet(&device, 1));
  CHECK(cuda.cuDevicePrimaryCtxRetain(&second, device));
  CHECK(cuda.cuCtxSetCurrent(second));
  CUdeviceptr there = allocate(length * sizeof(double));
  CHECK(cuda.cuCtxSetCurrent(first));
  put_row(there, 60 * rank_number, length);
  clear();
  MPI_Sendrecv(at(there), length, MPI_DOUBLE, right, 50, at(received), length, MPI_DOUBLE, left, 50,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_ROW(received, 60 * left, length);
  MPI_Sendrecv_replace(at(there), length, MPI_DOUBLE, right, 51, left, 51, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE);
  CHECK_ROW(there, 60 * left, length);
  CUcontext now;
  CHECK(cuda.cuCtxGetCurrent(&now));
  REQUIRE(now == first);
}

/* A buffer in two maps of one reservation, which end by one call. */
static void check_maps(void) {
  enum { map_bytes = 1 << 12, count = map_bytes / sizeof(double) };

  CUdeviceptr maps;
  CHECK(cuda.cuMemAddressReserve(&maps, 2 * map_bytes, 0, 0, 0));
  CHECK(cuda.cuMemMap(maps, map_bytes, 0, 1, 0));
  CHECK(cuda.cuMemMap(maps + map_bytes, map_bytes, 0, 2, 0));
  put_row(maps, 30 * rank_number, 2 * count);
  clear();
  MPI_Sendrecv(at(maps), 2 * count, MPI_DOUBLE, right, 52, at(received), 2 * count, MPI_DOUBLE,
               left, 52, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_ROW(received, 30 * left, 2 * count);
  MPI_Sendrecv(at(received + sizeof(double)), count, MPI_DOUBLE, right, 53,
               at(maps + map_bytes / 2), count, MPI_DOUBLE, left, 53, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  const int before = (rank_number + 2 * rank_count - 2) % rank_count;
  CHECK_ROW(maps + map_bytes / 2, 30 * before + 1, count);
  CHECK(cuda.cuMemUnmap(maps, 2 * map_bytes));
  CHECK(cuda.cuMemAddressFree(maps, 2 * map_bytes));
  // The host may get the addresses.
  double* reused = mmap((void*)maps, 2 * map_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (reused == MAP_FAILED) return;
  for (int i = 0; i < 2 * count; ++i)
    reused[i] = 40 * rank_number + i;
  MPI_Sendrecv(reused + count, count, MPI_DOUBLE, right, 54, at(received), count, MPI_DOUBLE, left,
               54, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_ROW(received, 40 * left + count, count);
  munmap(reused, 2 * map_bytes);
}

/* A face of a box: only its cells are read, and written. */
static void check_faces(void) {
  enum { edge = 10 };

  const int sizes[3] = {edge, edge, edge};
  for (int axis = 0; axis < 3; ++axis) {
    int counts[3] = {edge, edge, edge}, starts[3] = {0, 0, 0};
    MPI_Datatype face, ghost;
    counts[axis] = 1;
    starts[axis] = 2;
    MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &face);
    starts[axis] = edge - 1;
    MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &ghost);
    MPI_Type_commit(&face);
    MPI_Type_commit(&ghost);
    put_row(sent, 5000 * rank_number, edge * edge * edge);
    put_row(received, -5000, edge * edge * edge);
    MPI_Sendrecv(at(sent), 1, face, right, axis, at(received), 1, ghost, left, axis, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    const double* values = get(received, edge * edge * edge);
    for (int i = 0; i < edge * edge * edge; ++i) {
      const int place[3] = {i / (edge * edge), i / edge % edge, i % edge};
      int from[3] = {place[0], place[1], place[2]};
      from[axis] = 2;
      const double expected = place[axis] == edge - 1
                                  ? 5000 * left + (from[0] * edge + from[1]) * edge + from[2]
                                  : -5000 + i;
      if (values[i] != expected)
        fail(__LINE__, "axis %d, cell %d is %g, not %g", axis, i, values[i], expected);
    }
    MPI_Type_free(&face);
    MPI_Type_free(&ghost);
  }
  // A message that ends within a block.
  MPI_Datatype pairs;
  MPI_Status status;
  int received_count;
  MPI_Type_vector(5, 2, 3, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  put_row(sent, 800 * rank_number, 7);
  put_row(received, -50, 15);
  MPI_Sendrecv(at(sent), 7, MPI_DOUBLE, right, 5, at(received), 1, pairs, left, 5, MPI_COMM_WORLD,
               &status);
  MPI_Get_elements(&status, pairs, &received_count);
  REQUIRE(received_count == 7);
  const double* short_values = get(received, 15);
  for (int i = 0; i < 15; ++i) {
    const int k = i / 3 * 2 + i % 3;
    REQUIRE(short_values[i] == (i % 3 < 2 && k < 7 ? 800 * left + k : -50 + i));
  }
  MPI_Type_free(&pairs);
  // A list of blocks, in descending order, of several elements.
  const int lengths[3] = {2, 1, 3}, places[3] = {9, 5, 0};
  MPI_Datatype list, spaced;
  MPI_Type_indexed(3, lengths, places, MPI_DOUBLE, &list);
  MPI_Type_create_resized(list, 0, 12 * sizeof(double), &spaced);
  MPI_Type_commit(&spaced);
  put_row(sent, 300 * rank_number, 120);
  put_row(received, -300, 120);
  MPI_Request request;
  MPI_Irecv(at(received), 10, spaced, left, 20, MPI_COMM_WORLD, &request);
  MPI_Send(at(sent), 10, spaced, right, 20, MPI_COMM_WORLD);
  MPI_Type_free(&spaced);
  MPI_Type_free(&list);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const double* values = get(received, 120);
  for (int i = 0; i < 120; ++i) {
    const int k = i % 12, is_data = k < 3 || k == 5 || k == 9 || k == 10;
    REQUIRE(values[i] == (is_data ? 300 * left : -300) + i);
  }
}

static void check_reductions(void) {
  double* expected = malloc(length * sizeof(double));
  double* own = malloc(length * sizeof(double));
  for (int i = 0; i < length; ++i)
    own[i] = 1.0 / (1 + rank_number + i);
  put(sent, own, length);
  MPI_Allreduce(own, expected, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  // Bit for bit as from the host.
  MPI_Allreduce(at(sent), at(received), length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(memcmp(get(received, length), expected, length * sizeof(double)) == 0);
  put(received, own, length);
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, at(received), length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  REQUIRE(memcmp(get(received, length), expected, length * sizeof(double)) == 0);
  put_row(received, -1, length);
  MPI_Reduce(at(sent), rank_number == 1 % rank_count ? at(received) : NULL, length, MPI_DOUBLE,
             MPI_SUM, 1 % rank_count, MPI_COMM_WORLD);
  if (rank_number == 1 % rank_count)
    REQUIRE(memcmp(get(received, length), expected, length * sizeof(double)) == 0);
  put_row(sent, rank_number, 10);
  put_row(received, -77, 10);
  MPI_Exscan(at(sent), at(received), 10, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  CHECK_ROW(received, rank_number == 0 ? -77 : rank_number - 1, 10);
  MPI_Scan(at(sent), at(received), 10, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  CHECK_ROW(received, rank_number, 10);
  put_row(sent, 0, 10 * rank_count);
  put_row(received, 0, 10 * rank_count);
  MPI_Reduce_scatter_block(at(sent), at(received), 10, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  CHECK_ROW(received, 10 * rank_number, 10);
  int* counts = malloc((size_t)rank_count * sizeof(int));
  int before = 0;
  for (int i = 0; i < rank_count; ++i)
    counts[i] = 1 + i % 3;
  for (int i = 0; i < rank_number; ++i)
    before += counts[i];
  MPI_Reduce_scatter(at(sent), at(received), counts, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  CHECK_ROW(received, before, counts[rank_number]);
  put_row(received, 0, 10 * rank_count);
  MPI_Reduce_scatter(MPI_IN_PLACE, at(received), counts, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  CHECK_ROW(received, before, counts[rank_number]);
  free(counts);
  free(expected);
  free(own);
}

/* One operand on a device, or both. */
static void check_local_reduction(void) {
  put_row(sent, 10 * rank_number, length);
  put_row(received, 5, length);
  MPI_Reduce_local(at(sent), at(received), length, MPI_DOUBLE, MPI_SUM);
  const double* values = get(received, length);
  for (int i = 0; i < length; ++i)
    REQUIRE(values[i] == 10 * rank_number + 5 + 2 * i);
  double own[length];
  for (int i = 0; i < length; ++i)
    own[i] = -i;
  MPI_Reduce_local(own, at(received), length, MPI_DOUBLE, MPI_SUM);
  CHECK_ROW(received, 10 * rank_number + 5, length);
  MPI_Reduce_local(at(received), own, length, MPI_DOUBLE, MPI_MAX);
  for (int i = 0; i < length; ++i)
    REQUIRE(own[i] == 10 * rank_number + 5 + i);
}

/* Several pieces in one packed buffer: what is not a piece stays, on both sides. */
static void check_packing(void) {
  enum { packed_bytes = 400 * sizeof(double) };

  static double packed[packed_bytes / sizeof(double)];
  MPI_Datatype pairs;
  MPI_Type_vector(20, 2, 4, MPI_DOUBLE, &pairs);
  MPI_Type_commit(&pairs);
  for (int packed_on_device = 0; packed_on_device < 2; ++packed_on_device) {
    void* buffer = packed_on_device ? at(big) : packed;
    int position = 8, size;
    put_row(sent, 100 * rank_number, length);
    put_row(big, -9, packed_bytes / sizeof(double));
    for (size_t i = 0; i < packed_bytes / sizeof(double); ++i)
      packed[i] = -9 + (double)i;
    MPI_Pack_size(1, pairs, MPI_COMM_WORLD, &size);
    MPI_Pack(at(sent), 1, pairs, buffer, packed_bytes, &position, MPI_COMM_WORLD);
    REQUIRE(position == 8 + 40 * (int)sizeof(double) && size >= 40 * (int)sizeof(double));
    double more[3] = {1, 2, 3};
    MPI_Pack(more, 3, MPI_DOUBLE, buffer, packed_bytes, &position, MPI_COMM_WORLD);
    REQUIRE(position == 44 * (int)sizeof(double));
    if (packed_on_device) CHECK(cuda.cuMemcpyDtoH(packed, big, packed_bytes));
    REQUIRE(packed[0] == -9 && packed[44] == -9 + 44 && packed[399] == -9 + 399);
    for (int i = 0; i < 40; ++i)
      REQUIRE(packed[1 + i] == 100 * rank_number + i / 2 * 4 + i % 2);
    REQUIRE(packed[41] == 1 && packed[43] == 3);
    put_row(received, -500, length);
    position = 8;
    MPI_Unpack(buffer, packed_bytes, &position, at(received), 1, pairs, MPI_COMM_WORLD);
    MPI_Unpack(buffer, packed_bytes, &position, more, 3, MPI_DOUBLE, MPI_COMM_WORLD);
    REQUIRE(position == 44 * (int)sizeof(double) && more[0] == 1 && more[2] == 3);
    const double* values = get(received, length);
    for (int i = 0; i < length; ++i)
      REQUIRE(values[i] == (i < 80 && i % 4 < 2 ? 100 * rank_number : -500) + i);
    // In another representation.
    MPI_Aint place = 16;
    put_row(received, -600, length);
    put_row(big, -9, packed_bytes / sizeof(double));
    MPI_Pack_external("external32", at(sent), 1, pairs, buffer, packed_bytes, &place);
    REQUIRE(place == 16 + 40 * (MPI_Aint)sizeof(double));
    if (packed_on_device) CHECK_ROW(big, -9, 2);
    if (packed_on_device) CHECK_ROW(big + 42 * sizeof(double), -9 + 42, 300);
    place = 16;
    MPI_Unpack_external("external32", buffer, packed_bytes, &place, at(received), 1, pairs);
    values = get(received, length);
    for (int i = 0; i < length; ++i)
      REQUIRE(values[i] == (i < 80 && i % 4 < 2 ? 100 * rank_number : -600) + i);
  }
  MPI_Type_free(&pairs);
}

/* Partitions that become ready one by one, from device to device. */
static void check_partitions(void) {
  // Longer than a page: each is a message of its own.
  enum { partitions = 4, each = 700 };

  MPI_Request send, receive;
  MPI_Status status;
  MPI_Psend_init(at(sent), partitions, each, MPI_DOUBLE, right, 60, MPI_COMM_WORLD, MPI_INFO_NULL,
                 &send);
  MPI_Precv_init(at(received), partitions, each, MPI_DOUBLE, left, 60, MPI_COMM_WORLD,
                 MPI_INFO_NULL, &receive);
  for (int round = 0; round < 3; ++round) {
    put_row(received, -1, length);
    MPI_Start(&receive);
    MPI_Start(&send);
    // The data comes after the start.
    put_row(sent, 3000 * rank_number + round, partitions * each);
    const int list[2] = {3, 0};
    int flag = 0;
    MPI_Pready_list(2, list, send);
    while (flag == 0)
      MPI_Parrived(receive, 3, &flag);
    CHECK_ROW(received + 3 * each * sizeof(double), 3000 * left + round + 3 * each, each);
    MPI_Pready_range(1, 1, send);
    MPI_Pready(2, send);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    MPI_Wait(&receive, &status);
    CHECK_ROW(received, 3000 * left + round, partitions * each);
    CHECK_ROW(received + partitions * each * sizeof(double), -1 + partitions * each,
              length - partitions * each);
    MPI_Parrived(receive, 2, &flag);
    REQUIRE(flag != 0);
  }
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
}

static void check_movement(void) {
  const int root = rank_count - 1;
  clear();
  put_row(received, 2 * rank_number, 100);
  MPI_Bcast(at(received), 100, MPI_DOUBLE, root, MPI_COMM_WORLD);
  CHECK_ROW(received, 2 * root, 100);
  put_row(sent, 4 * rank_number, 4);
  put_row(received, -1, 4 * rank_count + 1);
  MPI_Gather(at(sent), 4, MPI_DOUBLE, at(received), 4, MPI_DOUBLE, root, MPI_COMM_WORLD);
  CHECK_ROW(received, rank_number == root ? 0 : -1, 4 * rank_count);
  MPI_Allgather(at(sent), 4, MPI_DOUBLE, at(received), 4, MPI_DOUBLE, MPI_COMM_WORLD);
  CHECK_ROW(received, 0, 4 * rank_count);
  put_row(sent, 0, 3 * rank_count);
  MPI_Scatter(at(sent), 3, MPI_DOUBLE, at(received), 3, MPI_DOUBLE, root, MPI_COMM_WORLD);
  CHECK_ROW(received, 3 * rank_number, 3);
  put_row(sent, 100 * rank_number, rank_count);
  MPI_Alltoall(at(sent), 1, MPI_DOUBLE, at(received), 1, MPI_DOUBLE, MPI_COMM_WORLD);
  const double* values = get(received, rank_count);
  for (int i = 0; i < rank_count; ++i)
    REQUIRE(values[i] == 100 * i + rank_number);
  // Blocks with gaps between them, which stay.
  int* counts = malloc((size_t)rank_count * sizeof(int));
  int* places = malloc((size_t)rank_count * sizeof(int));
  for (int i = 0; i < rank_count; ++i) {
    counts[i] = 1 + i % 2;
    places[i] = 3 * (rank_count - 1 - i);
  }
  put_row(sent, 50 * rank_number, 2);
  put_row(received, -1000, 3 * rank_count);
  MPI_Request request;
  MPI_Iallgatherv(at(sent), counts[rank_number], MPI_DOUBLE, at(received), counts, places,
                  MPI_DOUBLE, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  values = get(received, 3 * rank_count);
  for (int i = 0; i < 3 * rank_count; ++i) {
    const int of = rank_count - 1 - i / 3;
    REQUIRE(values[i] == (i % 3 < counts[of] ? 50 * of + i % 3 : -1000 + i));
  }
  free(counts);
  free(places);
  // A datatype for each pair; what is between the blocks stays.
  MPI_Datatype* types = malloc((size_t)rank_count * sizeof(MPI_Datatype));
  int* ones = malloc((size_t)rank_count * sizeof(int));
  MPI_Datatype spread;
  MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &spread);
  MPI_Type_commit(&spread);
  counts = malloc((size_t)rank_count * sizeof(int));
  for (int i = 0; i < rank_count; ++i) {
    types[i] = spread;
    ones[i] = 1;
    counts[i] = i * 4 * (int)sizeof(double);
  }
  put_row(sent, 100 * rank_number, 4 * rank_count);
  put_row(received, -2000, 4 * rank_count);
  MPI_Alltoallw(at(sent), ones, counts, types, at(received), ones, counts, types, MPI_COMM_WORLD);
  values = get(received, 4 * rank_count);
  for (int i = 0; i < 4 * rank_count; ++i) {
    const int is_data = i % 4 == 0 || i % 4 == 2;
    REQUIRE(values[i] == (is_data ? 100 * (i / 4) + 4 * rank_number + i % 4 : -2000 + i));
  }
  MPI_Type_free(&spread);
  free(types);
  free(ones);
  free(counts);
  MPI_Comm ring;
  const int size = rank_count, is_periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_periodic, 0, &ring);
  put_row(sent, 10 * rank_number, 5);
  MPI_Neighbor_allgather(at(sent), 5, MPI_DOUBLE, at(received), 5, MPI_DOUBLE, ring);
  CHECK_ROW(received, 10 * left, 5);
  CHECK_ROW(received + 5 * sizeof(double), 10 * right, 5);
  MPI_Comm_free(&ring);
  // A line: its ends have a neighbour that is none, whose block stays.
  const int is_open = 0;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_open, 0, &ring);
  put_row(received, -3000, 10);
  MPI_Neighbor_alltoall(at(sent), 2, MPI_DOUBLE, at(received), 2, MPI_DOUBLE, ring);
  CHECK_ROW(received, rank_number == 0 ? -3000 : 10 * left + 2, 2);
  CHECK_ROW(received + 2 * sizeof(double), rank_number == rank_count - 1 ? -2998 : 10 * right, 2);
  MPI_Comm_free(&ring);
}

/* Between ranks of even and of odd numbers. */
static void check_intercommunicator(void) {
  if (rank_count == 1) return;
  MPI_Comm half, inter;
  const int is_odd = rank_number % 2;
  int half_rank, remote_size;
  MPI_Comm_split(MPI_COMM_WORLD, is_odd, rank_number, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - is_odd, 0, &inter);
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_remote_size(inter, &remote_size);
  put_row(sent, 7 * rank_number, 1);
  put_row(received, -1, remote_size + 1);
  MPI_Allgather(at(sent), 1, MPI_DOUBLE, at(received), 1, MPI_DOUBLE, inter);
  const double* values = get(received, remote_size + 1);
  for (int i = 0; i < remote_size; ++i)
    REQUIRE(values[i] == 7 * (2 * i + 1 - is_odd));
  REQUIRE(values[remote_size] == -1 + remote_size);
  put_row(received, 5 * rank_number, 10);
  MPI_Bcast(at(received), 10, MPI_DOUBLE,
            is_odd           ? 0
            : half_rank == 0 ? MPI_ROOT
                             : MPI_PROC_NULL,
            inter);
  CHECK_ROW(received, is_odd ? 0 : 5 * rank_number, 10);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

static void check_files(void) {
  char name[64];
  snprintf(name, sizeof name, "gpu_buffers_%d_of_%ld.bin", rank_number, (long)getpid());
  MPI_File file;
  MPI_Status status;
  int count;
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  clear();
  MPI_File_write_at(file, 0, at(sent), length - 10, MPI_DOUBLE, MPI_STATUS_IGNORE);
  // What is behind the end of the file stays.
  put_row(received, -length, length);
  MPI_File_read_at(file, 0, at(received), length, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CHECK_ROW(received, 1000 * rank_number, length - 10);
  CHECK_ROW(received + (length - 10) * sizeof(double), -10, 10);
  // Split collectives.
  put_row(sent, 7000 + rank_number, length);
  put_row(received, -length, length);
  MPI_File_write_at_all_begin(file, 800, at(sent), 50, MPI_DOUBLE);
  MPI_File_write_at_all_end(file, at(sent), &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  REQUIRE(count == 50);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read_all_begin(file, at(received), length, MPI_DOUBLE);
  MPI_File_read_all_end(file, at(received), &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  REQUIRE(count == length - 10);
  CHECK_ROW(received, 1000 * rank_number, 100);
  CHECK_ROW(received + 100 * sizeof(double), 7000 + rank_number, 50);
  CHECK_ROW(received + 150 * sizeof(double), 1000 * rank_number + 150, length - 160);
  CHECK_ROW(received + (length - 10) * sizeof(double), -10, 10);
  MPI_File_write_ordered_begin(file, at(sent), 5, MPI_DOUBLE);
  MPI_File_write_ordered_end(file, at(sent), MPI_STATUS_IGNORE);
  MPI_File_read_at(file, 0, at(received), 6, MPI_DOUBLE, MPI_STATUS_IGNORE);
  CHECK_ROW(received, 7000 + rank_number, 5);
  CHECK_ROW(received + 5 * sizeof(double), 1000 * rank_number + 5, 1);
  MPI_File_close(&file);
}

static int window_errors;

static void count_window_error(MPI_Win* window, int* error, ...) {
  int class = MPI_SUCCESS;
  MPI_Error_class(*error, &class);
  REQUIRE(*window != MPI_WIN_NULL && class == MPI_ERR_BUFFER);
  ++window_errors;
}

/* Errors of windows and files go to their own handlers; that of MPI_COMM_SELF would end the job. */
static void check_handlers(void) {
  MPI_Win window;
  MPI_Errhandler handler;
  MPI_File file;
  int class = MPI_SUCCESS;
  char name[64];
  MPI_Win_create(host, sizeof host, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_create_errhandler(count_window_error, &handler);
  MPI_Win_set_errhandler(window, handler);
  MPI_Errhandler_free(&handler);
  MPI_Win_fence(0, window);
  window_errors = 0;
  MPI_Error_class(MPI_Put(at(sent), length + 1000, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, window),
                  &class);
  REQUIRE(class == MPI_ERR_BUFFER && window_errors == 1);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  snprintf(name, sizeof name, "gpu_handlers_%d_of_%ld.bin", rank_number, (long)getpid());
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_Error_class(MPI_File_read_all_begin(file, at(received), length + 1000, MPI_DOUBLE), &class);
  REQUIRE(class == MPI_ERR_BUFFER);
  MPI_File_close(&file);
}

static int late_errors, late_class;

static void count_late_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  MPI_Error_class(*error, &late_class);
  ++late_errors;
}

/* What the driver rejects when requests are completed is an error of their communicator. */
static void check_late_errors(void) {
  enum { count = 4, variants = 5 };

  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(count_late_error, &handler);
  for (int variant = 0; variant < variants; ++variant) {
    MPI_Comm comm;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, handler);
    clear();
    CUdeviceptr freed = allocate(count * sizeof(double));
    MPI_Irecv(at(freed), count, MPI_DOUBLE, left, 1, comm, &requests[0]);
    MPI_Irecv(at(received), count, MPI_DOUBLE, left, 2, comm, &requests[1]);
    CHECK(cuda.cuMemFreeAsync(freed, NULL));
    CHECK(cuda.cuCtxSynchronize());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(at(sent), count, MPI_DOUBLE, right, 1, comm);
    MPI_Send(at(sent), count, MPI_DOUBLE, right, 2, comm);
    MPI_Comm_free(&comm);
    late_errors = 0;
    late_class = MPI_SUCCESS;
    int error, expected = MPI_ERR_OTHER, flag = 0, indices[2], done = 0;
    if (variant == 0) {
      error = MPI_Wait(&requests[0], &statuses[0]);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else if (variant == 1) {
      error = MPI_Waitall(2, requests, statuses);
      expected = MPI_ERR_IN_STATUS;
    } else if (variant == 2) {
      error = MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      expected = MPI_ERR_IN_STATUS;
    } else if (variant == 3) {
      do
        error = MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
      while (flag == 0);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    } else {
      error = MPI_SUCCESS;
      expected = MPI_ERR_IN_STATUS;
      while (done < 2) {
        int some;
        const int of_call = MPI_Waitsome(2, requests, &some, indices, statuses);
        if (of_call != MPI_SUCCESS) error = of_call;
        for (int i = 0; i < some && of_call != MPI_SUCCESS; ++i)
          REQUIRE(statuses[i].MPI_ERROR == (indices[i] == 0 ? MPI_ERR_OTHER : MPI_SUCCESS));
        done += some;
      }
    }
    if (variant == 1)
      REQUIRE(statuses[0].MPI_ERROR == MPI_ERR_OTHER && statuses[1].MPI_ERROR == MPI_SUCCESS);
    REQUIRE(error == expected && late_class == expected && late_errors == 1);
    REQUIRE(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
    CHECK_ROW(received, 1000 * left, count);
  }
  MPI_Errhandler_free(&handler);
}

/* An error that is returned, with its class. */
static void check_error(void) {
  MPI_Win window;
  int class = MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const MPI_Aint too_many = (length + 1000) * sizeof(double);
  const int error =
      MPI_Win_create(at(received), too_many, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Error_class(error, &class);
  REQUIRE(class == MPI_ERR_BUFFER);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void send_large(void) {
  const size_t bytes = (size_t)70 << 20;
  CUdeviceptr from = allocate(bytes), to = allocate(bytes);
  CHECK(cuda.cuMemsetD8(from, (unsigned char)(1 + rank_number), bytes));
  CHECK(cuda.cuCtxSynchronize());
  MPI_Sendrecv(at(from), (int)bytes, MPI_BYTE, right, 1, at(to), (int)bytes, MPI_BYTE, left, 1,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  unsigned char ends[2];
  CHECK(cuda.cuMemcpyDtoH(&ends[0], to, 1));
  CHECK(cuda.cuMemcpyDtoH(&ends[1], to + bytes - 1, 1));
  REQUIRE(ends[0] == 1 + left && ends[1] == 1 + left);
}

/* Calls that end the job with a line. */
static void call_refused(const char* what) {
  MPI_Request request;
  if (strcmp(what, "attached") == 0) MPI_Buffer_attach(at(sent), length);
  if (strcmp(what, "partitioned") == 0)
    MPI_Psend_init(at(sent), 2, length, MPI_DOUBLE, right, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &request);
  if (strcmp(what, "mixed") == 0)
    MPI_Send(at(sent), length + 1000, MPI_DOUBLE, right, 0, MPI_COMM_WORLD);
  if (strcmp(what, "freed") == 0) {
    MPI_Irecv(at(received), 1, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, &request);
    MPI_Request_free(&request);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  REQUIRE(MPIX_Query_cuda_support() == 1);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(0);
  right = (rank_number + 1) % rank_count;
  left = (rank_number + rank_count - 1) % rank_count;
  sent = allocate(length * sizeof(double));
  received = allocate(length * sizeof(double));
  further = allocate(20 * sizeof(double));
  big = allocate(400 * sizeof(double));
  const char* mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "large") == 0) {
    send_large();
  } else if (argc > 1 && strcmp(mode, "checked") != 0 && strcmp(mode, "process") != 0) {
    call_refused(mode);
  }
  static char buffer[4096];
  MPI_Buffer_attach(buffer, sizeof buffer);
  for (int round = 0; round < 2; ++round) {
    check_messages();
    check_requests();
    check_bottom();
    check_devices();
    check_maps();
    check_faces();
    check_reductions();
    check_local_reduction();
    check_packing();
    check_partitions();
    check_movement();
    check_intercommunicator();
  }
  check_files();
  if (strcmp(mode, "checked") != 0) {
    check_handlers();
    // The driver of these tests copies to memory that was freed.
    if (strcmp(mode, "process") != 0) check_late_errors();
    check_error();
  }
  void* detached;
  int size;
  MPI_Buffer_detach(&detached, &size);
  // A rank that is a process waits in the driver.
  if (strcmp(mode, "process") != 0)
    REQUIRE(cuda.count(FAKE_CUDA_BLOCKING_WAITS) == 0 || rank_count == 1);
  printf("buffers of rank %d are on the device\n", rank_number);
  MPI_Finalize();
  return 0;
}
