// Cancellation, with OMP_CANCELLATION=true: after it everything goes on.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int is_off = argc > 1 && argv[1][0] == 'o';
  printf("cancellation %d\n", omp_get_cancellation());
  for (int round = 0; round < 50; ++round) {
    int after = 0, before = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp atomic
      before++;
      if (omp_get_thread_num() == 2) {
#pragma omp cancel parallel
      }
#pragma omp barrier
#pragma omp atomic
      after++;
    }
    int found = -1, ran = 0;
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic, 1)
      for (int i = 0; i < 100000; ++i) {
#pragma omp atomic
        ran++;
        if (i == 50) {
          found = i;
#pragma omp cancel for
        }
#pragma omp cancellation point for
      }
      // The region goes on, with loops of its own.
#pragma omp for
      for (int i = 0; i < 4; ++i)
#pragma omp atomic
        after += 100;
    }
    int tasks = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 1000; ++i) {
#pragma omp task
      {
#pragma omp cancellation point taskgroup
#pragma omp atomic
        tasks++;
        if (i == 10) {
#pragma omp cancel taskgroup
        }
      }
    }
    if (is_off) {
      if (before != 4 || after != 404 || ran != 100000 || tasks != 1000)
        printf("wrong: nothing is cancelled\n");
      continue;
    }
    if (before < 1 || after % 100 != 0 || after != 400 || found != 50 || ran > 100000 ||
        tasks > 1000)
      printf("wrong: %d %d %d %d %d\n", before, after, found, ran, tasks);
  }
  printf("done\n");
  return 0;
}
