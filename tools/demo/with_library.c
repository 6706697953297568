// with_library MPI PROGRAM: runs a program of tools/demo that is built as a shared library, with an
// MPI's library, by its path: its name differs, MPICH's is libmpi.so.12 or libmpich.so.12.
#include <dlfcn.h>
#include <stdio.h>

typedef int main_function(int argc, char** argv);

int main(int argc, char** argv) {
  if (argc < 3) return fprintf(stderr, "usage: with_library MPI PROGRAM\n"), 2;
  void* program = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) ? dlopen(argv[2], RTLD_NOW) : NULL;
  void* entry = program ? dlsym(program, "main") : NULL;
  if (!entry) return fprintf(stderr, "%s\n", dlerror()), 1;
  return ((main_function*)entry)(argc - 2, argv + 2);
}
