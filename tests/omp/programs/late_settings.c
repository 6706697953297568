// Sets a variable of the environment before its first call of OpenMP. Compiled without -fopenmp, it
// opens the library after that.
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#else
#include <dlfcn.h>
#endif

int main(void) {
  setenv("OMP_NUM_THREADS", "3", 1);
#ifdef _OPENMP
  printf("linked: %d threads\n", omp_get_max_threads());
#else
  void* const library = dlopen("libgomp.so.1", RTLD_NOW);
  int (*const ask)(void) =
      library == NULL ? NULL : (int (*)(void))dlsym(library, "omp_get_max_threads");
  if (ask == NULL) return 1;
  printf("opened: %d threads\n", ask());
#endif
  return 0;
}
