// A program that is linked with libcuda.so.1: its calls are those of a program that opens it. The
// kernel of rank r ends when rank r + 1 has run.
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../cuda_driver.h"

CUresult cuInit(unsigned flags);
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device);
CUresult cuCtxSetCurrent(CUcontext context);
CUresult cuLaunchKernel(CUfunction,
                        unsigned,
                        unsigned,
                        unsigned,
                        unsigned,
                        unsigned,
                        unsigned,
                        unsigned,
                        CUstream,
                        void**,
                        void**);
CUresult cuStreamSynchronize(CUstream stream);

static void wait_for_flag(const uint64_t* arguments) {
  const struct timespec pause = {0, 100000};
  while (atomic_load((atomic_int*)arguments[0]) == 0)
    nanosleep(&pause, NULL);
}

static void require(int condition, const char* text) {
  if (condition) return;
  fprintf(stderr, "%s\n", text);
  exit(1);
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CUcontext context;
  require(
      cuInit(0) == 0 && cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0,
      "no device");
  atomic_int flag = 0;
  uint64_t own = (uint64_t)&flag, of_left;
  void* parameters[] = {&own};
  require(cuLaunchKernel(fake_cuda_kernel(wait_for_flag, 1, 0), 1, 1, 1, 1, 1, 1, 0, NULL,
                         parameters, NULL) == 0,
          "no kernel");
  MPI_Sendrecv(&own, 1, MPI_UINT64_T, (rank + 1) % size, 0, &of_left, 1, MPI_UINT64_T,
               (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0) atomic_store((atomic_int*)of_left, 1);
  require(cuStreamSynchronize(NULL) == 0, "no end");
  if (rank == 0) atomic_store((atomic_int*)of_left, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  require(fake_cuda_count(FAKE_CUDA_BLOCKING_WAITS) == 0, "a thread slept in the driver");
  printf("waits of rank %d give way\n", rank);
  MPI_Finalize();
  return 0;
}
