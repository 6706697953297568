// mp_numthreads() and mp_set_numthreads() of IRIX, which this library has and the compiler's has
// not.
#include <omp.h>
#include <stdio.h>

extern int mp_numthreads(void) __attribute__((weak));
extern int mp_numthreads_(void) __attribute__((weak));
extern void mp_set_numthreads(int count) __attribute__((weak));
extern void mp_set_numthreads_(const int* count) __attribute__((weak));

static int threads_of_region(void) {
  int count = 0;
#pragma omp parallel
#pragma omp single
  count = omp_get_num_threads();
  return count;
}

int main(void) {
  if (!mp_numthreads || !mp_numthreads_ || !mp_set_numthreads || !mp_set_numthreads_) {
    puts("missing");
    return 1;
  }
  const int three = 3;
  const int first = mp_numthreads();
  printf("first %d\n", first == threads_of_region() && first == mp_numthreads_());
  mp_set_numthreads(1);
  printf("one %d %d\n", mp_numthreads(), threads_of_region());
  mp_set_numthreads_(&three);
  printf("three %d %d\n", mp_numthreads_(), threads_of_region());
  mp_set_numthreads(-1);
  printf("least %d %d\n", mp_numthreads(), threads_of_region());
  return 0;
}
