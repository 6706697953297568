// A program with OpenMP and without MPI: a line for each time it runs.
#include <omp.h>
#include <stdio.h>

int main(void) {
  printf("x %d\n", omp_get_max_threads() > 0);
  return 0;
}
