// The program of the measurement in docs/gpu.md, with checked values: steps of a kernel, copies, an
// exchange with the neighbours.
#include "driver.h"

enum { step_count = 25, length = 64 };

static void add(const uint64_t* arguments) {
  double* values = cuda.host(arguments[0]);
  for (int i = 0; i < length; ++i)
    values[i] += 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  open_cuda(argc > 1 ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                     : CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(0);
  const int right = (rank_number + 1) % rank_count,
            left = (rank_number + rank_count - 1) % rank_count;
  double *values, *received;
  CUdeviceptr array = allocate(length * sizeof(double));
  CHECK(cuda.cuMemHostAlloc((void**)&values, length * sizeof(double), 0));
  CHECK(cuda.cuMemHostAlloc((void**)&received, length * sizeof(double), 0));
  for (int i = 0; i < length; ++i)
    values[i] = rank_number;
  CHECK(cuda.cuMemcpyHtoD(array, values, length * sizeof(double)));
  void* parameters[] = {&array};
  CUfunction kernel = cuda.kernel(add, 1, 200);
  for (int step = 0; step < step_count; ++step) {
    launch(kernel, NULL, parameters);
    CHECK(cuda.cuMemcpyDtoHAsync(values, array, length * sizeof(double), NULL));
    CHECK(cuda.cuStreamSynchronize(NULL));
    MPI_Sendrecv(values, length, MPI_DOUBLE, right, step, received, length, MPI_DOUBLE, left, step,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(cuda.cuMemcpyHtoDAsync(array, received, length * sizeof(double), NULL));
  }
  CHECK(cuda.cuMemcpyDtoH(values, array, length * sizeof(double)));
  const int from = ((rank_number - step_count) % rank_count + rank_count) % rank_count;
  for (int i = 0; i < length; ++i)
    REQUIRE(values[i] == from + step_count);
  printf("rank %d has made its steps\n", rank_number);
  MPI_Finalize();
  return 0;
}
