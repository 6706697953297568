// The number of threads of a region that requests many: by the clause, then by the call.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int requested = argc > 1 ? atoi(argv[1]) : 1;
  int by_clause = 0, by_call = 0;
#pragma omp parallel num_threads(requested)
#pragma omp single
  by_clause = omp_get_num_threads();
  omp_set_num_threads(requested);
#pragma omp parallel
#pragma omp single
  by_call = omp_get_num_threads();
  printf("threads %d %d\n", by_clause, by_call);
  return 0;
}
