// Steps of a kernel of 200 us on 4 blocks, a copy of 8 KiB to the host, an exchange with the neighbours, a copy back, 20 us on the host.
// Argument: own (a stream for each rank), default (the default stream), unequal (kernels of 100 to 400 us), memory (of the device, in use).
#include <cstring>

#include "check.h"

__global__ void add(double* values, int count, long long cycles) {
  const long long began = clock64();
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) values[i] += 1;
  while (clock64() - began < cycles) {
  }
}

int main(int argc, char** argv) {
  constexpr int count = 1024, step_count = 200;
  const char* mode = argc > 1 ? argv[1] : "own";
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  double *on_device, *sent, *received;
  cudaStream_t stream = 0;
  int khz = 0;
  CHECK(cudaSetDevice(0));
  CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
  CHECK(cudaMalloc(&on_device, count * sizeof(double)));
  CHECK(cudaMallocHost(&sent, count * sizeof(double)));
  CHECK(cudaMallocHost(&received, count * sizeof(double)));
  if (strcmp(mode, "own") == 0 || strcmp(mode, "unequal") == 0) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int i = 0; i < count; ++i)
    sent[i] = rank;
  CHECK(cudaMemcpy(on_device, sent, count * sizeof(double), cudaMemcpyHostToDevice));
  const double kernel_us = strcmp(mode, "unequal") == 0 ? 100 + 300.0 * rank / size : 200;
  const long long cycles = (long long)(kernel_us * 1e-3 * khz);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  double began = 0;
  for (int step = -10; step < step_count; ++step) {
    if (step == 0) {
      MPI_Barrier(MPI_COMM_WORLD);
      began = MPI_Wtime();
    }
    add<<<4, 256, 0, stream>>>(on_device, count, cycles);
    CHECK(cudaMemcpyAsync(sent, on_device, count * sizeof(double), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    MPI_Sendrecv(sent, count, MPI_DOUBLE, right, 0, received, count, MPI_DOUBLE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(cudaMemcpyAsync(on_device, received, count * sizeof(double), cudaMemcpyHostToDevice, stream));
    for (const double host_began = MPI_Wtime(); MPI_Wtime() - host_began < 20e-6;) {
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double step_us = 1e6 * (MPI_Wtime() - began) / step_count;
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(sent, on_device, count * sizeof(double), cudaMemcpyDeviceToHost));
  const int steps = step_count + 10;
  const int from = ((rank - steps) % size + size) % size;
  for (int i = 0; i < count; ++i)
    REQUIRE(sent[i] == from + steps);
  size_t free_bytes, all_bytes;
  CHECK(cudaMemGetInfo(&free_bytes, &all_bytes));
  if (rank == 0 && strcmp(mode, "memory") == 0)
    printf("%.0f MiB in use\n", (double)(all_bytes - free_bytes) / 1048576);
  else if (rank == 0)
    printf("%.0f us a step\n", step_us);
  MPI_Finalize();
  return 0;
}
