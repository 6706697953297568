/* A small OpenMP program: loops of both kinds, and tasks. */
#include <stdio.h>

int main(void) {
  int sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum)
  for (int i = 0; i < 500; ++i)
    sum += i;
#pragma omp parallel
#pragma omp single
  for (int i = 500; i < 1000; ++i) {
#pragma omp task
    {
#pragma omp atomic
      sum += i;
    }
  }
  printf("sum %d\n", sum);
}
