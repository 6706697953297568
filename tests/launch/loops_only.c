// A program with a loop of Sorrel's and without MPI: a line for each time it runs.
#include <stdint.h>
#include <stdio.h>

#include <sorrel.h>

static int add(void* sum, int64_t begin, int64_t end) {
  *(int64_t*)sum += end - begin;
  return 0;
}

int main(void) {
  int64_t sum = 0;
  const int status = sorrel_parallel_for(0, 1, add, &sum, NULL);
  printf("x %d\n", (int)sum);
  return status;
}
