/* Parallel regions of different ranks are independent, even if a rank waits inside of one. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>

static int touched[4];
#pragma omp threadprivate(touched)

int main(int argc, char** argv) {
  int rank, wrong = 0, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10; ++i) {
#pragma omp parallel num_threads(2) reduction(+ : sum, wrong)
    {
      if (omp_get_num_threads() != 2 || omp_get_level() != 1) wrong++;
#pragma omp master
      MPI_Barrier(MPI_COMM_WORLD);
#pragma omp barrier
      sum += omp_get_thread_num() + rank;
      touched[i % 4] += rank;
    }
  }
  if (wrong || sum != 10 * (1 + 2 * rank)) {
    fprintf(stderr, "rank %d: %d regions were nested in another rank's, sum %d\n", rank, wrong,
            sum);
    return 1;
  }
  printf("parallel regions of rank %d are its own\n", rank);
  MPI_Finalize();
  return 0;
}
