// Random operations in the default stream, in blocking and in non-blocking streams of a rank keep
// the order of the driver's legacy default stream, and those of other ranks are no part of it.
// Argument: the seed.
#include <stdatomic.h>

#include "driver.h"

enum { operation_count = 60, stream_count = 5 };

struct operation {
  int stream; /* 0: the default stream; 1, 2, 3: blocking; 4: non-blocking */
  atomic_int place;
};

static struct operation operations[operation_count];
static atomic_int next_place;

static void take_place(const uint64_t* arguments) {
  struct operation* operation = (struct operation*)arguments[0];
  atomic_store((atomic_int*)&operation->place, 1 + atomic_fetch_add((atomic_int*)arguments[1], 1));
}

static int is_ordered(int before, int after) {
  const int first = operations[before].stream, second = operations[after].stream;
  if (first == second) return 1;
  return (first == 0 && second <= 3) || (second == 0 && first <= 3);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(0);
  const unsigned seed = (argc > 1 ? (unsigned)atoi(argv[1]) : 1) * 1000 + (unsigned)rank_number;
  srand(seed);
  CUstream streams[stream_count] = {NULL};
  for (int i = 1; i < stream_count; ++i)
    CHECK(cuda.cuStreamCreate(&streams[i], i <= 3 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING));
  unsigned flags = 9;
  CHECK(cuda.cuStreamGetFlags(streams[1], &flags));
  REQUIRE(flags == CU_STREAM_DEFAULT);
  CHECK(cuda.cuStreamGetFlags(streams[4], &flags));
  REQUIRE(flags == CU_STREAM_NON_BLOCKING);
  for (int i = 0; i < operation_count; ++i) {
    operations[i].stream = rand() % stream_count;
    void* address = &operations[i];
    void* counter = &next_place;
    void* parameters[] = {&address, &counter};
    CUfunction kernel = cuda.kernel(take_place, 2, (unsigned)(rand() % 2000));
    if (rand() % 2 == 0) {
      launch(kernel, streams[operations[i].stream], parameters);
    } else {
      const CUlaunchConfig config = {1, 1, 1, 1, 1, 1, 0, streams[operations[i].stream], NULL, 0};
      CHECK(cuda.cuLaunchKernelEx(&config, kernel, parameters, NULL));
    }
    // What waits for the default stream waits for blocking streams.
    if (rand() % 16 == 0) {
      CHECK(cuda.cuStreamSynchronize(NULL));
      for (int k = 0; k <= i; ++k)
        REQUIRE(operations[k].stream > 3 || atomic_load(&operations[k].place) != 0);
    }
    if (rand() % 16 == 0) MPI_Barrier(MPI_COMM_SELF);
  }
  CHECK(cuda.cuCtxSynchronize());
  for (int after = 0; after < operation_count; ++after) {
    REQUIRE(atomic_load(&operations[after].place) != 0);
    for (int before = 0; before < after; ++before) {
      if (!is_ordered(before, after)) continue;
      if (operations[before].place > operations[after].place)
        fail(__LINE__, "seed %u: operation %d (stream %d) ran after operation %d (stream %d)", seed,
             before, operations[before].stream, after, operations[after].stream);
    }
  }
  while (cuda.cuStreamQuery(NULL) == CUDA_ERROR_NOT_READY)
    MPI_Barrier(MPI_COMM_SELF);
  for (int i = 1; i < stream_count; ++i)
    CHECK(cuda.cuStreamDestroy(streams[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  REQUIRE(cuda.count(FAKE_CUDA_LEGACY_OPS) == 0);
  printf("operations of rank %d are in order\n", rank_number);
  MPI_Finalize();
  return 0;
}
