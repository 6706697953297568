// Compiled by `sorrel selftest`: four threads of OpenMP.
#include <omp.h>
#include <stdio.h>

int main(void) {
  long sum = 0;
  int threads = 0;
#pragma omp parallel num_threads(4)
  {
#pragma omp single
    threads = omp_get_num_threads();
#pragma omp for reduction(+ : sum)
    for (int i = 0; i < 100000; i++)
      sum += i;
  }
  printf("%d threads, %d wrong values\n", threads, sum != 4999950000L);
  return 0;
}
