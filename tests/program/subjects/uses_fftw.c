// FFTW's planner may be used by one thread at a time, and keeps what it has measured.
#include <fftw3.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, is_right = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 5; ++round) {
    const int count = 16 + (7 * round + rank) % 50;
    double* in = fftw_alloc_real((size_t)count);
    fftw_complex* out = fftw_alloc_complex((size_t)count);
    fftw_plan plan = fftw_plan_dft_r2c_1d(count, in, out, FFTW_ESTIMATE);
    double sum = 0;
    for (int i = 0; i < count; ++i)
      sum += in[i] = i + rank;
    fftw_execute(plan);
    is_right = is_right && out[0][0] > sum - 1e-6 && out[0][0] < sum + 1e-6;
    fftw_destroy_plan(plan);
    fftw_free(in);
    fftw_free(out);
  }
  fftw_cleanup();
  if (is_right) printf("library of rank %d is its own\n", rank);
  MPI_Finalize();
  return 0;
}
