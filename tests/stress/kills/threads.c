/* An OpenMP program that computes for so many milliseconds: threads MILLISECONDS. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const double end_s = omp_get_wtime() + (argc > 1 ? atof(argv[1]) : 200) * 1e-3;
  double sum = 0;
  while (omp_get_wtime() < end_s) {
#pragma omp parallel for reduction(+ : sum) num_threads(4) schedule(dynamic, 100)
    for (int i = 1; i < 20000; ++i)
      sum += 1.0 / i;
  }
  puts("over");
  return sum < 0;
}
