// With OMP_DISPLAY_AFFINITY, the threads of the first team are displayed, and those of a team of
// another size.
#include <omp.h>

static int threads;

static void count(void) {
#pragma omp atomic
  threads++;
}

int main(void) {
  omp_set_max_active_levels(2);
  for (int i = 0; i < 3; i++) {
#pragma omp parallel num_threads(2)
    count();
  }
#pragma omp parallel num_threads(3)
  {
#pragma omp master
#pragma omp parallel num_threads(2)
    count();
  }
  return threads != 8;
}
