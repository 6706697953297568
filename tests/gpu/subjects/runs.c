// A program of CUDA's driver: each rank increments an array of its own on the device, and the ranks
// sum what they have read back. The argument: the device's number.
#include "driver.h"

enum { length = 1000 };

static void add_one(const uint64_t* arguments) {
  double* values = cuda.host(arguments[0]);
  for (uint64_t i = 0; i < arguments[1]; ++i)
    values[i] += 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(argc > 1 ? atoi(argv[1]) : 0);
  double values[length];
  for (int i = 0; i < length; ++i)
    values[i] = rank_number;
  CUdeviceptr array = allocate(sizeof values);
  CHECK(cuda.cuMemcpyHtoD(array, values, sizeof values));
  uint64_t count = length;
  void* parameters[] = {&array, &count};
  CUfunction kernel = cuda.kernel(add_one, 2, 200);
  for (int step = 0; step < 3; ++step)
    launch(kernel, NULL, parameters);
  CHECK(cuda.cuMemcpyDtoH(values, array, sizeof values));
  for (int i = 0; i < length; ++i)
    REQUIRE(values[i] == rank_number + 3);
  double sum;
  MPI_Allreduce(&values[length - 1], &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(sum == rank_count * (rank_count - 1) / 2 + 3 * rank_count);
  CHECK(cuda.cuMemFree(array));
  printf("rank %d of %d has used the device\n", rank_number, rank_count);
  MPI_Finalize();
  return 0;
}
