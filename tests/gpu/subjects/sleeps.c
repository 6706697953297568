// A worker whose ranks wait for long kernels sleeps, and the driver wakes it.
#include <sys/resource.h>
#include <unistd.h>

#include "driver.h"

static double processor_seconds(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void nothing(const uint64_t* arguments) {
  (void)arguments;
}

int main(int argc, char** argv) {
  enum { kernel_us = 1000000 };

  MPI_Init(&argc, &argv);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(0);
  CUstream stream;
  CUevent event;
  CHECK(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuda.cuEventCreate(&event, 2));
  CUfunction kernel = cuda.kernel(nothing, 0, kernel_us);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = seconds();
  const double used_before = processor_seconds();
  launch(kernel, stream, NULL);
  if (rank_number % 2 == 0) {
    CHECK(cuda.cuStreamSynchronize(stream));
  } else {
    CHECK(cuda.cuEventRecord(event, stream));
    CHECK(cuda.cuEventSynchronize(event));
  }
  REQUIRE(seconds() - began >= 1e-6 * kernel_us);
  MPI_Barrier(MPI_COMM_WORLD);
  // In the time that it has taken, which is longer on a busy machine.
  REQUIRE(processor_seconds() - used_before < 0.25 * (seconds() - began));
  // The function that wakes for an event is in another stream than the kernel, and may run later.
  for (int i = 0; i < 3000 && cuda.count(FAKE_CUDA_HOST_FUNCTIONS) < rank_count; ++i)
    usleep(10000);
  REQUIRE(cuda.count(FAKE_CUDA_HOST_FUNCTIONS) >= rank_count);
  printf("the worker of rank %d slept\n", rank_number);
  MPI_Finalize();
  return 0;
}
