// The current context goes with the rank, and so does the stack of contexts. Devices: three.
#include "driver.h"

static void check_device(CUcontext expected, int device) {
  CUcontext context;
  CUdevice current;
  CHECK(cuda.cuCtxGetCurrent(&context));
  REQUIRE(context == expected);
  CHECK(cuda.cuCtxGetDevice(&current));
  REQUIRE(current == device);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  CUcontext none = (CUcontext)1;
  CHECK(cuda.cuInit(0));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(cuda.cuCtxGetCurrent(&none));
  REQUIRE(none == NULL);
  // Ranks without a context beside ranks with one.
  const int device = rank_number % 3;
  MPI_Barrier(MPI_COMM_WORLD);
  CUcontext primary = NULL;
  if (rank_number % 4 != 3) primary = use_device(device);
  for (int i = 0; i < 20; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (primary != NULL) {
      check_device(primary, device);
      CUstream stream;
      CHECK(cuda.cuStreamCreate(&stream, CU_STREAM_DEFAULT));
      CHECK(cuda.cuStreamSynchronize(NULL));
      CHECK(cuda.cuStreamDestroy(stream));
    } else {
      CHECK(cuda.cuCtxGetCurrent(&none));
      REQUIRE(none == NULL);
    }
  }
  const int other = (device + 1) % 3;
  CUcontext own, popped;
  CHECK(cuda.cuCtxCreate(&own, 0, other));
  MPI_Barrier(MPI_COMM_WORLD);
  check_device(own, other);
  if (primary != NULL) {
    CHECK(cuda.cuCtxPushCurrent(primary));
    MPI_Barrier(MPI_COMM_SELF);
    check_device(primary, device);
    CHECK(cuda.cuCtxPopCurrent(&popped));
    REQUIRE(popped == primary);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  check_device(own, other);
  CHECK(cuda.cuCtxDestroy(own));
  MPI_Barrier(MPI_COMM_WORLD);
  if (primary != NULL) check_device(primary, device);
  CHECK(cuda.cuCtxSetCurrent(NULL));
  REQUIRE(cuda.cuCtxPopCurrent(&popped) == CUDA_ERROR_INVALID_CONTEXT);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(cuda.cuCtxGetCurrent(&none));
  REQUIRE(none == NULL);
  // Ranks release what they have retained, and no more.
  if (primary != NULL) {
    CHECK(cuda.cuDevicePrimaryCtxRelease(device));
    REQUIRE(cuda.cuDevicePrimaryCtxRelease(device) == CUDA_ERROR_INVALID_CONTEXT);
  }
  printf("contexts of rank %d are its own\n", rank_number);
  MPI_Finalize();
  return 0;
}
