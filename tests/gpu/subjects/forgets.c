// What ranks forget is freed at their ends, and a reset of the device by one rank leaves the others
// theirs.
#include <unistd.h>

#include "driver.h"

static void fill(const uint64_t* arguments) {
  memset(cuda.host(arguments[0]), (int)arguments[1], arguments[2]);
}

static char registered[8192];

int main(int argc, char** argv) {
  enum { bytes = 1 << 16 };

  MPI_Init(&argc, &argv);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(0);
  CUdeviceptr memory = allocate(bytes), managed, pitched, pooled;
  size_t pitch;
  void* pinned;
  CUstream stream;
  CHECK(cuda.cuMemAllocManaged(&managed, bytes, 1));
  CHECK(cuda.cuMemAllocPitch(&pitched, &pitch, 100, 10, 4));
  CHECK(cuda.cuMemAllocAsync(&pooled, bytes, NULL));
  CHECK(cuda.cuMemHostAlloc(&pinned, bytes, 0));
  CHECK(cuda.cuMemHostRegister(registered, sizeof registered, 0));
  CHECK(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  uint64_t value = (uint64_t)rank_number, length = bytes;
  void* parameters[] = {&memory, &value, &length};
  launch(cuda.kernel(fill, 3, 5000), stream, parameters);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_number == 1) {
    CHECK(cuda.cuDevicePrimaryCtxReset(0));
    REQUIRE(cuda.count(FAKE_CUDA_LIVE_BYTES) < rank_count * (3L * bytes + (long)pitch * 10));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  REQUIRE(cuda.count(FAKE_CUDA_RESETS) == 0);
  if (rank_number != 1) {
    char back[bytes];
    CHECK(cuda.cuStreamSynchronize(stream));
    CHECK(cuda.cuMemcpyDtoH(back, memory, bytes));
    REQUIRE(back[bytes - 1] == (char)rank_number);
    // Work that nothing waits for.
    launch(cuda.kernel(fill, 3, 20000), stream, parameters);
  }
  MPI_Finalize();
  if (rank_number == 0) {
    CHECK(cuda.cuDevicePrimaryCtxReset(0));
    // The others have ended when nothing is left.
    for (int i = 0;
         i < 6000 && cuda.count(FAKE_CUDA_LIVE_BYTES) + cuda.count(FAKE_CUDA_LIVE_HOST_BYTES) != 0;
         ++i)
      usleep(10000);
    REQUIRE(cuda.count(FAKE_CUDA_LIVE_BYTES) == 0);
    REQUIRE(cuda.count(FAKE_CUDA_LIVE_HOST_BYTES) == 0);
    REQUIRE(cuda.count(FAKE_CUDA_LIVE_STREAMS) == 0);
    printf("nothing is left\n");
  }
  if (rank_number == 2) _exit(0);
  return 0;
}
