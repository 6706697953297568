// Opens a library while it runs, after a region. opens LIBRARY
#include <dlfcn.h>
#include <omp.h>
#include <stdio.h>

int main(int count, char** arguments) {
  int threads = 0;
#pragma omp parallel num_threads(4) reduction(+ : threads)
  threads++;
  printf("%d threads\n", threads);
  return count > 1 && dlopen(arguments[1], RTLD_NOW) == NULL ? 1 : 0;
}
