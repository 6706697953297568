// A program with OpenMP and without MPI: a sum by all threads.
#include <omp.h>
#include <stdio.h>

int main(void) {
  const int last = 100000;
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 1; i <= last; ++i)
    sum += i;
  printf("%d threads, sum %ld\n", omp_get_max_threads(), sum);
  return sum != last * (last + 1L) / 2;
}
