/* Only a library of a library uses MPI. With OPENS, the program opens the library that its argument
 * names. */
#include <dlfcn.h>
#include <stdio.h>

void above_mpi_library_report(void);

int main(int argc, char** argv) {
  (void)argc;
#ifdef OPENS
  void* library = dlopen(argv[1], RTLD_NOW);
  void (*report)(void) =
      library == NULL ? NULL : (void (*)(void))dlsym(library, "above_mpi_library_report");
  if (report == NULL) {
    puts(dlerror());
    return 1;
  }
  report();
#else
  (void)argv;
  above_mpi_library_report();
#endif
  return 0;
}
