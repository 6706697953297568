// Ranks that wait for kernels, each in another call, until the file of the argument exists.
#include <unistd.h>

#include "driver.h"

enum { bytes = 4096 };

static void wait_for_file(const uint64_t* arguments) {
  const char* file = (const char*)arguments[0];
  while (access(file, F_OK) != 0)
    usleep(1000);
}

static void wait_in_call(CUstream stream) {
  static char host[bytes];
  CUevent event;
  switch (rank_number % 5) {
    case 0:
      CHECK(cuda.cuStreamSynchronize(stream));
      return;
    case 1:
      CHECK(cuda.cuStreamSynchronize(NULL));
      return;
    case 2:
      CHECK(cuda.cuEventCreate(&event, 2));
      CHECK(cuda.cuEventRecord(event, stream));
      CHECK(cuda.cuEventSynchronize(event));
      return;
    case 3:
      CHECK(cuda.cuCtxSynchronize());
      return;
    default:
      CHECK(cuda.cuMemcpyDtoH(host, allocate(bytes), bytes));
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(0);
  CUstream stream;
  CHECK(cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  MPI_Barrier(MPI_COMM_WORLD);
  const char* file = argv[1];
  void* parameters[] = {&file};
  const int is_default = rank_number % 5 == 1 || rank_number % 5 == 4;
  launch(cuda.kernel(wait_for_file, 1, 0), is_default ? NULL : stream, parameters);
  printf("rank %d is ready\n", rank_number);
  fflush(stdout);
  wait_in_call(stream);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
