// Buffers on a device: half round trips of two ranks, a face of a box, an allreduce; values checked.
#include <numeric>
#include <vector>

#include "check.h"

static int rank_number;

static double half_trip_us(void* buffer, int bytes) {
  constexpr int rounds = 20;
  const int other = 1 - rank_number;
  double began = 0;
  for (int i = -3; i < rounds; ++i) {
    if (i == 0) began = MPI_Wtime();
    if (rank_number == 0) MPI_Send(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank_number == 1) MPI_Send(buffer, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
  }
  return 1e6 * (MPI_Wtime() - began) / (2 * rounds);
}

// Of a copy by the driver, from one part of a buffer to another one.
static double copy_us(char* buffer, size_t bytes) {
  constexpr int rounds = 20;
  double began = 0;
  for (int i = -3; i < rounds; ++i) {
    if (i == 0) began = MPI_Wtime();
    CHECK(cudaMemcpyAsync(buffer + bytes, buffer, bytes, cudaMemcpyDeviceToDevice));
    CHECK(cudaDeviceSynchronize());
  }
  return 1e6 * (MPI_Wtime() - began) / rounds;
}

int main(int argc, char** argv) {
  constexpr int edge = 512;
  constexpr size_t cells = (size_t)edge * edge * edge;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_number);
  double *box, *other;
  CHECK(cudaMalloc(&box, cells * sizeof(double)));
  CHECK(cudaMalloc(&other, cells * sizeof(double)));
  CHECK(cudaMemset(box, 1 + rank_number, cells * sizeof(double)));
  CHECK(cudaDeviceSynchronize());
  const double small = half_trip_us(box, 8), middle = half_trip_us(box, 1 << 20), large = half_trip_us(box, 64 << 20);
  MPI_Barrier(MPI_COMM_WORLD);
  const double copy = rank_number == 0 ? copy_us((char*)box, 64 << 20) : 0;
  MPI_Barrier(MPI_COMM_WORLD);
  const int sizes[3] = {edge, edge, edge}, counts[3] = {edge, 1, edge}, starts[3] = {0, 7, 0};
  MPI_Datatype face;
  MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &face);
  MPI_Type_commit(&face);
  std::vector<double> numbers(cells);
  std::iota(numbers.begin(), numbers.end(), 1 + 1e9 * rank_number);
  CHECK(cudaMemcpy(box, numbers.data(), cells * sizeof(double), cudaMemcpyHostToDevice));
  CHECK(cudaMemset(other, 0, cells * sizeof(double)));
  CHECK(cudaDeviceSynchronize());
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  MPI_Sendrecv(box, 1, face, 1 - rank_number, 1, other, 1, face, 1 - rank_number, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double face_us = 1e6 * (MPI_Wtime() - began);
  // The face alone is there.
  CHECK(cudaMemcpy(numbers.data(), other, cells * sizeof(double), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < cells; ++i)
    REQUIRE(numbers[i] == (i / edge % edge == 7 ? 1 + 1e9 * (1 - rank_number) + (double)i : 0));
  constexpr int length = 1 << 17;
  std::vector<double> own(length), sum(length), expected(length);
  for (int i = 0; i < length; ++i)
    own[i] = 1.0 / (1 + rank_number + i);
  CHECK(cudaMemcpy(box, own.data(), length * sizeof(double), cudaMemcpyHostToDevice));
  MPI_Allreduce(own.data(), expected.data(), length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double reduce_began = MPI_Wtime();
  MPI_Allreduce(box, other, length, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  const double reduce_us = 1e6 * (MPI_Wtime() - reduce_began);
  CHECK(cudaMemcpy(sum.data(), other, length * sizeof(double), cudaMemcpyDeviceToHost));
  for (int i = 0; i < length; ++i)
    REQUIRE(sum[i] == expected[i]);
  if (rank_number == 0)
    printf("half round trip of 8 B %.1f us, 1 MiB %.0f us, 64 MiB %.0f us (the driver's copy %.0f us); face of 512^3 %.0f us; allreduce of 1 MiB %.0f us\n",
           small, middle, large, copy, face_us, reduce_us);
  MPI_Finalize();
  return 0;
}
