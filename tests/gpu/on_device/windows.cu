// A window on a device: puts and gets of two ranks, an accumulate, a counter; values checked.
#include <vector>

#include "check.h"

static int rank_number;

// Of one operation to the other rank and its completion.
template <class Operation>
static double time_us(MPI_Win window, Operation operation) {
  constexpr int rounds = 10;
  double began = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = -2; i < rounds; ++i) {
    if (i == 0) began = MPI_Wtime();
    if (rank_number == 0) {
      operation();
      MPI_Win_flush(1, window);
    }
  }
  const double us = 1e6 * (MPI_Wtime() - began) / rounds;
  MPI_Barrier(MPI_COMM_WORLD);
  return us;
}

int main(int argc, char** argv) {
  constexpr int length = 8 << 20, part = 1 << 17;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_number);
  double *memory, *own;
  long* counter;
  std::vector<double> values(length);
  CHECK(cudaMalloc(&memory, length * sizeof(double)));
  CHECK(cudaMalloc(&own, length * sizeof(double)));
  CHECK(cudaMalloc(&counter, sizeof(long)));
  for (int i = 0; i < length; ++i)
    values[i] = 1e6 * rank_number + i;
  CHECK(cudaMemcpy(own, values.data(), length * sizeof(double), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(memory, 0, length * sizeof(double)));
  CHECK(cudaMemset(counter, 0, sizeof(long)));
  CHECK(cudaDeviceSynchronize());
  MPI_Win window, count_window;
  MPI_Win_create(memory, length * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_create(counter, sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &count_window);
  MPI_Win_lock_all(0, window);
  MPI_Win_lock_all(0, count_window);
  const double small = time_us(window, [&] { MPI_Put(own, 1, MPI_DOUBLE, 1, 0, 1, MPI_DOUBLE, window); });
  const double large = time_us(window, [&] { MPI_Put(own, length, MPI_DOUBLE, 1, 0, length, MPI_DOUBLE, window); });
  if (rank_number == 1) {
    CHECK(cudaMemcpy(values.data(), memory, length * sizeof(double), cudaMemcpyDeviceToHost));
    for (int i = 0; i < length; ++i)
      REQUIRE(values[i] == i);
  }
  CHECK(cudaMemset(memory, 0, part * sizeof(double)));
  CHECK(cudaDeviceSynchronize());
  const double added = time_us(window, [&] { MPI_Accumulate(own, part, MPI_DOUBLE, 1, 0, part, MPI_DOUBLE, MPI_SUM, window); });
  if (rank_number == 1) {
    CHECK(cudaMemcpy(values.data(), memory, part * sizeof(double), cudaMemcpyDeviceToHost));
    for (int i = 0; i < part; ++i)
      REQUIRE(values[i] == 12.0 * i);
  }
  const double got = time_us(window, [&] { MPI_Get(own, part, MPI_DOUBLE, 1, 0, part, MPI_DOUBLE, window); });
  if (rank_number == 0) {
    CHECK(cudaMemcpy(values.data(), own, part * sizeof(double), cudaMemcpyDeviceToHost));
    for (int i = 0; i < part; ++i)
      REQUIRE(values[i] == 12.0 * i);
  }
  // Each number once.
  long seen_sum = 0, all_sum = 0;
  constexpr long one = 1, rounds = 20;
  for (int i = 0; i < rounds; ++i) {
    long seen = -1;
    MPI_Fetch_and_op(&one, &seen, MPI_LONG, 0, 0, MPI_SUM, count_window);
    MPI_Win_flush(0, count_window);
    seen_sum += seen;
  }
  MPI_Allreduce(&seen_sum, &all_sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  REQUIRE(all_sum == 2 * rounds * (2 * rounds - 1) / 2);
  MPI_Win_unlock_all(window);
  MPI_Win_unlock_all(count_window);
  MPI_Win_free(&window);
  MPI_Win_free(&count_window);
  if (rank_number == 0)
    printf("put of 8 B %.1f us, 64 MiB %.0f us; get of 1 MiB %.0f us; accumulate of 1 MiB %.0f us\n", small, large, got, added);
  MPI_Finalize();
  return 0;
}
