// Runs the program of tests/mpi that the first argument names.
#include <stdio.h>
#include <string.h>

#define PROGRAM(name) int main_of_##name();
#include "programs.inc"
#undef PROGRAM

int main(int argc, char** argv) {
  const char* const chosen = argc > 1 ? argv[1] : "";
#define PROGRAM(name) \
  if (strcmp(chosen, #name) == 0) return ((int (*)(int, char**))main_of_##name)(argc - 1, argv + 1);
#include "programs.inc"
#undef PROGRAM
  fprintf(stderr, "no program '%s'\n", chosen);
  return 2;
}
