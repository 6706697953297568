// Buffers on a device: half round trips of two ranks, a face of a box, an allreduce; values checked.
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
  const int sizes[3] = {edge, edge, edge}, counts[3] = {edge, 1, edge}, starts[3] = {0, 7, 0};
  MPI_Datatype face;
  MPI_Type_create_subarray(3, sizes, counts, starts, MPI_ORDER_C, MPI_DOUBLE, &face);
  MPI_Type_commit(&face);
  CHECK(cudaMemset(other, 0, cells * sizeof(double)));
  CHECK(cudaDeviceSynchronize());
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  MPI_Sendrecv(box, 1, face, 1 - rank_number, 1, other, 1, face, 1 - rank_number, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const double face_us = 1e6 * (MPI_Wtime() - began);
  std::vector<double> row(edge), source(edge);
  CHECK(cudaMemcpy(row.data(), other + 7 * edge, edge * sizeof(double), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(source.data(), box + 7 * edge, edge * sizeof(double), cudaMemcpyDeviceToHost));
  // Both boxes have the data of rank 0 there, from the round trips.
  REQUIRE(row[0] != 0 && row == source);
  CHECK(cudaMemcpy(row.data(), other + 8 * edge, edge * sizeof(double), cudaMemcpyDeviceToHost));
  for (double value : row)
    REQUIRE(value == 0);
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
    printf("half round trip of 8 B %.1f us, 1 MiB %.0f us, 64 MiB %.0f us; face of 512^3 %.0f us; allreduce of 1 MiB %.0f us\n", small, middle,
           large, face_us, reduce_us);
  MPI_Finalize();
  return 0;
}
