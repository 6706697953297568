/* A 64 x 48 transform forward and back with FFTW's MPI interface; prints one coefficient and the
 * error */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  int me, np;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  const ptrdiff_t N = 64, M = 48;
  ptrdiff_t n0, s0, a = fftw_mpi_local_size_2d(N, M, MPI_COMM_WORLD, &n0, &s0);
  fftw_complex* x = fftw_alloc_complex(a);
  fftw_plan f = fftw_mpi_plan_dft_2d(N, M, x, x, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_ESTIMATE),
            b = fftw_mpi_plan_dft_2d(N, M, x, x, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_ESTIMATE);
  for (ptrdiff_t i = 0; i < n0; i++)
    for (ptrdiff_t j = 0; j < M; j++) {
      x[i * M + j][0] = sin(0.1 * (i + s0)) + 0.01 * j * j;
      x[i * M + j][1] = 0;
    }
  fftw_execute(f);
  double s[2] = {0, 0}, t[2], e = 0, g;
  for (ptrdiff_t i = 0; i < n0 * M; i++)
    s[0] += fabs(x[i][0]), s[1] += fabs(x[i][1]);
  MPI_Allreduce(s, t, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  fftw_execute(b);
  for (ptrdiff_t i = 0; i < n0; i++)
    for (ptrdiff_t j = 0; j < M; j++)
      e = fmax(e, fabs(x[i * M + j][0] / (N * M) - sin(0.1 * (i + s0)) - 0.01 * j * j));
  MPI_Allreduce(&e, &g, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (!me) printf("sums %.6f %.6f error below 1e-12: %d\n", t[0], t[1], g < 1e-12);
  fftw_destroy_plan(f);
  fftw_destroy_plan(b);
  fftw_free(x);
  MPI_Finalize();
}
