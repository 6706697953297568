// The library functions that OpenMP 5.1 and 5.2 have added, including those of GCC 13, which the
// libraries of older compilers lack. With an argument it ends with an error directive.
#include <omp.h>
#include <stdio.h>

int omp_in_explicit_task(void) __attribute__((weak));
void GOMP_taskwait_depend_nowait(void** depend) __attribute__((weak));

int main(int argc, char** argv) {
  (void)argv;
  int in_task = -1, in_region = -1, value = 0, seen = -1;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    in_region = omp_in_explicit_task();
#pragma omp task shared(in_task)
    in_task = omp_in_explicit_task();
#pragma omp task depend(out : value)
    value = 1;
    // taskwait depend(inout: value) nowait: one address, which it writes.
    void* depend[] = {(void*)1, (void*)1, &value};
    GOMP_taskwait_depend_nowait(depend);
#pragma omp task depend(in : value) shared(seen)
    seen = value;
  }
  printf("in a region %d, in a task %d, after an empty task %d\n", in_region, in_task, seen);
#pragma omp error at(execution) severity(warning) message("on we go")
  if (argc > 1) {
#pragma omp error at(execution) message("this is the end")
  }
  return 0;
}
