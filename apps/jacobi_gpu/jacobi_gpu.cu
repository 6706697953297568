// Jacobi's method for Laplace's equation on a square, on GPUs: CUDA and MPI, no further library. The square is cut into strips of rows, one
// for each rank; the ghost rows are exchanged between the memories of devices, and the change of a sweep is summed there.
//
//   nvcc -O2 -arch=native -Xcompiler -fPIE -Xlinker -pie $(sorrel cc -showme:compile) -o jacobi_gpu jacobi_gpu.cu \
//     $(sorrel cc -showme:link | sed 's/-Wl,/-Xlinker /g')
//   sorrel run -n 16 ./jacobi_gpu EDGE SWEEPS
//
// Ranks choose the devices of their node in turn. Prints the norm of the last change and the time of a sweep. With an edge of at most 1024, rank
// 0 compares the norm with that of the same sweeps on the host.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <mpi-ext.h>
#include <mpi.h>
#include <vector>

#define CHECK(call)                                                                              \
  do {                                                                                           \
    const cudaError_t error_ = (call);                                                           \
    if (error_ != cudaSuccess) {                                                                 \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_)); \
      exit(1);                                                                                   \
    }                                                                                            \
  } while (0)

// The strip of a rank: `rows` rows of `edge` cells, and a rim of ghosts or of boundary around it.
struct Strip {
  int rows;
  int edge;
  int above;
  int below;

  int pitch() const { return edge + 2; }

  size_t cells() const { return (size_t)(rows + 2) * pitch(); }
};

// Adds the squares of the changes within a block of threads, then in one atomic addition.
__global__ void sweep(const double* from, double* to, int rows, int edge, double* change) {
  __shared__ double sum;
  const int column = (int)(blockIdx.x * blockDim.x + threadIdx.x) + 1;
  const int row = (int)(blockIdx.y * blockDim.y + threadIdx.y) + 1;
  const bool is_first = threadIdx.x == 0 && threadIdx.y == 0;
  if (is_first) sum = 0;
  __syncthreads();
  if (column <= edge && row <= rows) {
    const size_t pitch = (size_t)edge + 2;
    const size_t i = row * pitch + column;
    const double value = 0.25 * (from[i - 1] + from[i + 1] + from[i - pitch] + from[i + pitch]);
    to[i] = value;
    atomicAdd(&sum, (value - from[i]) * (value - from[i]));
  }
  __syncthreads();
  if (is_first) atomicAdd(change, sum);
}

// The same on the host: the norm of the last change.
static double norm_on_host(int edge, int sweep_count) {
  const size_t pitch = (size_t)edge + 2;
  std::vector<double> from(pitch * pitch);
  for (size_t i = 0; i < pitch; ++i)
    from[i] = 1;
  std::vector<double> to = from;
  double change = 0;
  for (int k = 0; k < sweep_count; ++k) {
    change = 0;
    for (int row = 1; row <= edge; ++row) {
      for (int column = 1; column <= edge; ++column) {
        const size_t i = row * pitch + column;
        to[i] = 0.25 * (from[i - 1] + from[i + 1] + from[i - pitch] + from[i + pitch]);
        change += (to[i] - from[i]) * (to[i] - from[i]);
      }
    }
    from.swap(to);
  }
  return std::sqrt(change);
}

// The rows at the rim of a strip go to the neighbours, and their rows come into the ghosts: all in the memory of devices.
static void exchange_ghosts(double* cells, const Strip& strip) {
  const int pitch = strip.pitch();
  double* const last = cells + (size_t)strip.rows * pitch;
  MPI_Request requests[4];
  MPI_Irecv(cells, pitch, MPI_DOUBLE, strip.above, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(last + pitch, pitch, MPI_DOUBLE, strip.below, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(last, pitch, MPI_DOUBLE, strip.below, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(cells + pitch, pitch, MPI_DOUBLE, strip.above, 1, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void choose_device() {
  MPI_Comm node;
  int rank_on_node, device_count;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &rank_on_node);
  MPI_Comm_free(&node);
  CHECK(cudaGetDeviceCount(&device_count));
  CHECK(cudaSetDevice(rank_on_node % device_count));
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int edge = argc > 1 ? atoi(argv[1]) : 1024;
  const int sweep_count = argc > 2 ? atoi(argv[2]) : 200;
  if (edge < size || sweep_count < 1) {
    if (rank == 0) fprintf(stderr, "jacobi_gpu EDGE SWEEPS: the edge must be at least the number of ranks, and one sweep is needed\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (!MPIX_Query_cuda_support()) {
    if (rank == 0) fprintf(stderr, "jacobi_gpu: this MPI has no buffers on devices\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  choose_device();
  const Strip strip{edge / size + (rank < edge % size), edge, rank > 0 ? rank - 1 : MPI_PROC_NULL, rank + 1 < size ? rank + 1 : MPI_PROC_NULL};
  std::vector<double> initial(strip.cells());
  for (int i = 0; rank == 0 && i < strip.pitch(); ++i)
    initial[i] = 1;
  const size_t bytes = initial.size() * sizeof(double);
  double *from, *to, *change;
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMalloc(&from, bytes));
  CHECK(cudaMalloc(&to, bytes));
  CHECK(cudaMalloc(&change, sizeof(double)));
  CHECK(cudaMemcpy(from, initial.data(), bytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(to, initial.data(), bytes, cudaMemcpyHostToDevice));
  const dim3 block(64, 4);
  const dim3 grid((edge + block.x - 1) / block.x, (strip.rows + block.y - 1) / block.y);
  MPI_Barrier(MPI_COMM_WORLD);
  const double began = MPI_Wtime();
  for (int k = 0; k < sweep_count; ++k) {
    exchange_ghosts(from, strip);
    CHECK(cudaMemsetAsync(change, 0, sizeof(double), stream));
    sweep<<<grid, block, 0, stream>>>(from, to, strip.rows, edge, change);
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
    double* const swapped = from;
    from = to;
    to = swapped;
  }
  const double sweep_us = 1e6 * (MPI_Wtime() - began) / sweep_count;
  MPI_Allreduce(MPI_IN_PLACE, change, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  double squared;
  CHECK(cudaMemcpy(&squared, change, sizeof(double), cudaMemcpyDeviceToHost));
  const double norm = std::sqrt(squared);
  int status = 0;
  if (rank == 0) {
    // Sums of squares in another order.
    const double expected = edge <= 1024 ? norm_on_host(edge, sweep_count) : norm;
    status = std::abs(norm - expected) <= 1e-9 * expected ? 0 : 1;
    if (status != 0) fprintf(stderr, "jacobi_gpu: the change is %.9e, not %.9e\n", norm, expected);
    printf("change %.6e, %.1f us a sweep\n", norm, sweep_us);
  }
  MPI_Finalize();
  return status;
}
