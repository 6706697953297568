// Every call that waits for the device lets other ranks of the worker run. A kernel of rank r ends
// when rank r + 1 has run; with one worker it never does if the wait of rank r keeps the core. The
// argument: what a stream handle of 0 means.
#include <stdatomic.h>

#include "driver.h"

enum { bytes = 4096 };

static atomic_int* flag;
static CUdeviceptr memory;
static CUstream stream;
static CUevent event;
static char pageable[bytes];
static char* pinned;

static void wait_for_flag(const uint64_t* arguments) {
  atomic_int* awaited = (atomic_int*)arguments[0];
  const struct timespec pause = {0, 100000};
  while (atomic_load(awaited) == 0)
    nanosleep(&pause, NULL);
  memset(cuda.host(arguments[1]), 'k', bytes);
}

static void by_stream(void) {
  CHECK(cuda.cuStreamSynchronize(stream));
}

static void by_default_stream(void) {
  CHECK(cuda.cuStreamSynchronize(NULL));
}

static void by_event(void) {
  CHECK(cuda.cuEventRecord(event, stream));
  CHECK(cuda.cuEventSynchronize(event));
}

static void by_context(void) {
  CHECK(cuda.cuCtxSynchronize());
}

static void by_copy(void) {
  CHECK(cuda.cuMemcpyDtoH(pageable, memory, bytes));
  REQUIRE(pageable[bytes - 1] == 'k');
}

static void by_pinned_copy(void) {
  CHECK(cuda.cuMemcpyDtoH(pinned, memory, bytes));
  REQUIRE(pinned[bytes - 1] == 'k');
}

static void by_pageable_copy(void) {
  CHECK(cuda.cuMemcpyDtoHAsync(pageable, memory, bytes, stream));
  REQUIRE(pageable[bytes - 1] == 'k');
}

static void by_rectangle(void) {
  const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = memory,
                              .srcPitch = 64,
                              .dstMemoryType = CU_MEMORYTYPE_HOST,
                              .dstHost = pageable,
                              .dstPitch = 32,
                              .WidthInBytes = 32,
                              .Height = bytes / 64};
  CHECK(cuda.cuMemcpy2D(&rows));
  REQUIRE(pageable[bytes / 2 - 1] == 'k');
}

// With `in_default_stream`, the kernel is in the default stream.
static void wait_in_chain(void (*wait)(void), int in_default_stream) {
  const int right = (rank_number + 1) % rank_count;
  const int left = (rank_number + rank_count - 1) % rank_count;
  uint64_t of_left;
  MPI_Request request;
  atomic_store(flag, 0);
  memset(pageable, 0, bytes);
  memset(pinned, 0, bytes);
  CUfunction kernel = cuda.kernel(wait_for_flag, 2, 0);
  void* parameters[] = {&flag, &memory};
  launch(kernel, in_default_stream ? NULL : stream, parameters);
  MPI_Irecv(&of_left, 1, MPI_UINT64_T, left, 0, MPI_COMM_WORLD, &request);
  const uint64_t own = (uint64_t)flag;
  MPI_Send(&own, 1, MPI_UINT64_T, right, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank_number != 0) atomic_store((atomic_int*)of_left, 1);
  wait();
  if (rank_number == 0) atomic_store((atomic_int*)of_left, 1);
  CHECK(cuda.cuCtxSynchronize());
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int per_thread = argc > 1 && strcmp(argv[1], "per-thread") == 0;
  open_cuda(per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                       : CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(0);
  flag = malloc(sizeof *flag);
  memory = allocate(bytes);
  CHECK(cuda.cuMemHostAlloc((void**)&pinned, bytes, 0));
  CHECK(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuda.cuEventCreate(&event, 2));
  wait_in_chain(by_stream, 0);
  wait_in_chain(by_default_stream, 1);
  wait_in_chain(by_event, 0);
  wait_in_chain(by_context, 0);
  wait_in_chain(by_context, 1);
  wait_in_chain(by_copy, 1);
  wait_in_chain(by_pinned_copy, 1);
  wait_in_chain(by_pageable_copy, 0);
  wait_in_chain(by_rectangle, 1);
  // No thread of a worker has slept in the driver, and the ranks have not met in its default
  // stream.
  REQUIRE(cuda.count(FAKE_CUDA_BLOCKING_WAITS) == 0);
  REQUIRE(cuda.count(FAKE_CUDA_LEGACY_OPS) == 0);
  printf("waits of rank %d give way\n", rank_number);
  MPI_Finalize();
  return 0;
}
