// Regions of changing sizes with tasks, in quick succession. A thread that helps with the tasks of
// one region must not be mistaken for a thread of the next, and no task of either may be lost.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int fibonacci(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

// The creator's tasks run at the end of the region.
static long left_over(int threads, int tasks) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single nowait
  for (int i = 1; i <= tasks; ++i) {
#pragma omp task shared(sum)
    {
#pragma omp atomic
      sum += i;
    }
  }
  return sum;
}

// Every thread creates some tasks, and all threads wait at a barrier before the end.
static long met(int threads) {
  long sum = 0;
#pragma omp parallel num_threads(threads)
  {
#pragma omp task shared(sum)
    {
#pragma omp atomic
      sum += 1;
    }
#pragma omp barrier
#pragma omp task shared(sum)
    {
#pragma omp atomic
      sum += 100;
    }
  }
  return sum;
}

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 200;
  static const int sizes[] = {5, 2, 3, 8, 1, 4, 8, 5, 3};
  for (int round = 0; round < rounds; ++round) {
    const int threads = sizes[round % 9];
    int result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
    result = fibonacci(8);
    if (result != 21) printf("fibonacci %d of %d threads in round %d\n", result, threads, round);
    const long left = left_over(threads, 1 + round % 20);
    const long tasks = 1 + round % 20;
    if (left != tasks * (tasks + 1) / 2)
      printf("left over %ld of %d threads in round %d\n", left, threads, round);
    const long all = met(threads);
    if (all != 101 * threads) printf("met %ld of %d threads in round %d\n", all, threads, round);
  }
  printf("%d rounds\n", rounds);
  return 0;
}
